import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * A relay before Redis that loses a part of the messages between a worker and Redis. `waits`: everything on the blocking connection, and on
 * each later one; `answers to waits`: only the replies of Redis on those; `answers to questions`: the replies of Redis on the existing
 * connection that the worker requests jobs on.
 */
interface HalfDeafRelay {
    port: number;
    lose(what: 'waits' | 'answers to waits' | 'answers to questions'): void;
    /** Forwards everything again, and cuts the connections that lost a message, since nobody would repeat it. */
    hear(): void;
    close(): Promise<void>;
}

const WAIT = '$8\r\nbzpopmin\r\n';
const QUESTION = /\*\d+\r\n\$\d\r\neval(sha)?\r\n/i;

export async function startHalfDeafRelay(target: number): Promise<HalfDeafRelay> {
    let losing: Parameters<HalfDeafRelay['lose']>[0] | undefined;
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
        const far = connect(target, '127.0.0.1');
        const isLate = losing !== undefined;
        let isBlocking = false;
        let isAsking = false;
        near.on('data', (bytes: Buffer) => {
            const text = bytes.toString('latin1');
            isBlocking ||= text.includes(WAIT);
            isAsking ||= QUESTION.test(text);
            if (losing !== 'waits' || !(isBlocking || isLate)) far.write(bytes);
        });
        far.on('data', (bytes) => {
            const isLost = losing === 'answers to questions' ? isAsking && !isLate : losing !== undefined && (isBlocking || isLate);
            if (!isLost) near.write(bytes);
        });
        for (const [from, to] of [
            [near, far],
            [far, near],
        ] as const) {
            sockets.add(from);
            from.on('error', () => undefined);
            from.on('close', () => {
                sockets.delete(from);
                to.destroy();
            });
        }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return {
        port: typeof address === 'object' && address !== null ? address.port : 0,
        lose(what) {
            losing = what;
        },
        hear() {
            losing = undefined;
            for (const socket of sockets) socket.destroy();
        },
        async close() {
            for (const socket of sockets) socket.destroy();
            server.close();
            await once(server, 'close');
        },
    };
}
