import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { limitIdentity } from './client-address.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { perApp } from './per-app.ts';

/** Maximum number of parts that one process builds at the same time. Most of them use a database connection, of its 16. */
const AT_ONCE = 4;

const partsOf = perApp(() => new KeyedQueue({ atOnce: AT_ONCE }));

interface Reader {
    app: App;
    request: Request;
    gone: AbortSignal;
}

/**
 * The parts of an answer that is streamed. All streams of one client build their parts one after another, since a stream no longer counts
 * among the reads of its client (client-reads.ts), and sixty downloads would take all database connections for a minute.
 */
export async function* inClientTurn({ app, request, gone }: Reader, parts: AsyncIterable<string>): AsyncGenerator<string> {
    const iterator = parts[Symbol.asyncIterator]();
    const turn = { keys: [limitIdentity(request.app.clientAddress)], gone };
    try {
        for (;;) {
            const step = await partsOf(app).run(turn, () => iterator.next());
            if (step.done === true) return;
            yield step.value;
        }
    } finally {
        await iterator.return?.();
    }
}
