import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
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
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
        await tools.connect(transport);
        const answer = await transport.handleRequest(request, { parsedBody });
        return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
    } finally {
        await tools.close();
    }
}
