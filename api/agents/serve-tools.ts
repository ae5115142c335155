import { createMcpHandler, isLegacyRequest, type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { agentServer, type Served } from '../../shared/agents/agent-server.ts';

/**
 * Answers the messages of one request. Keeps no state between requests. A separate module, so that a process without agents does not load
 * the MCP SDK.
 * @param parsedBody one message; clients from before 2026 may send several
 */
export async function serveTools(
    request: globalThis.Request,
    parsedBody: unknown,
    served: Served,
): Promise<{ status: number; headers: Headers; body: Buffer }> {
    const open = () => agentServer(served);
    const isEarlier = await isLegacyRequest(request, parsedBody);
    return isEarlier ? answerEarlier(open(), request, parsedBody) : answerCurrent(open, request, parsedBody);
}

/** The 2026 revision: each message names its revision. Responses are not streamed, so clients cannot subscribe to changes. */
async function answerCurrent(open: () => Server, request: globalThis.Request, parsedBody: unknown) {
    const handler = createMcpHandler(open, { legacy: 'reject', maxSubscriptions: 0 });
    try {
        return await toAnswer(await handler.fetch(request, { parsedBody }));
    } finally {
        await handler.close();
    }
}

/** Earlier revisions: the client names one in `initialize` or in a header. */
async function answerEarlier(server: Server, request: globalThis.Request, parsedBody: unknown) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
        await server.connect(transport);
        return await toAnswer(await transport.handleRequest(request, { parsedBody }));
    } finally {
        await server.close();
    }
}

async function toAnswer(answer: Response) {
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}
