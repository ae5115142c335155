import { setImmediate } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { agentServer } from '../../shared/agents/agent-server.ts';
import { type Ask, AskFailure } from '../../shared/agents/ask.ts';
import { INSTRUCTIONS, TOOLS } from '../../shared/agents/tool-list.ts';
import { errorBodyOf, RoutebookError } from '../client/errors.ts';
import { Transport } from '../client/transport.ts';
import type { Done, Session } from '../session.ts';

/** Serves the agent tools on stdin and stdout until stdin ends and its calls are answered. Messages for people go to stderr. */
export async function serveAgents(session: Session): Promise<Done> {
    const ended = Promise.withResolvers<void>();
    const calls = new Set<Promise<unknown>>();
    const send = askWith(new Transport(session.clientOptions()));
    const ask: Ask = (call) => {
        const answer = send(call).finally(() => calls.delete(answer));
        calls.add(answer);
        return answer;
    };
    const wire = new StdioServerTransport();
    const close = wire.close.bind(wire);
    // The transport closes itself at the end of stdin.
    wire.close = async () => {
        do {
            await Promise.allSettled(calls);
            // Calls begin, and answers are sent, a moment later.
            await setImmediate();
        } while (calls.size > 0);
        await close();
        ended.resolve();
    };
    serveStdio(() => agentServer({ tools: TOOLS, ask, instructions: INSTRUCTIONS }), { transport: wire });
    session.note(`serving agent tools with ${session.server}`);
    await ended.promise;
    return { result: { ended: true } };
}

function askWith(transport: Transport): Ask {
    return async (call) => {
        try {
            return await transport.call(call);
        } catch (error) {
            if (!(error instanceof RoutebookError)) throw error;
            throw new AskFailure(errorBodyOf(error));
        }
    };
}
