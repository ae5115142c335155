import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ListToolsRequestSchema, type ServerResult } from '@modelcontextprotocol/sdk/types.js';
import type { Ask } from '../../shared/agents/ask.ts';
import type { FindEffect } from '../../shared/agents/effects.ts';
import { agentServer } from '../../shared/agents/tools.ts';

/**
 * Answers the messages of one request without state. It is a separate module: it loads the protocol's SDK and zod, which a process without
 * agents does not need in memory.
 * @param parsedBody one message or several
 */
export async function serveTools(
    request: globalThis.Request,
    parsedBody: unknown,
    { ask, findEffect }: { ask: Ask; findEffect: FindEffect },
): Promise<{ status: number; headers: Headers; body: Buffer }> {
    const tools = agentServer(ask, findEffect);
    const listed = await listOnce();
    tools.server.setRequestHandler(ListToolsRequestSchema, () => listed);
    return answer(tools, request, parsedBody);
}

async function answer(tools: McpServer, request: globalThis.Request, parsedBody: unknown) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
        await tools.connect(transport);
        const answer = await transport.handleRequest(request, { parsedBody });
        return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
    } finally {
        await tools.close();
    }
}

let list: Promise<ServerResult> | undefined;

/** The list of tools is the same for everybody, and the SDK takes a millisecond to write it: it is made once a process. */
function listOnce(): Promise<ServerResult> {
    list ??= makeList();
    return list;
}

async function makeList(): Promise<ServerResult> {
    const none = () => Promise.reject(new Error('listing tools calls none'));
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const request = new globalThis.Request('http://localhost/mcp', { method: 'POST', headers });
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { body } = await answer(agentServer(none, none), request, message);
    return (JSON.parse(body.toString()) as { result: ServerResult }).result;
}
