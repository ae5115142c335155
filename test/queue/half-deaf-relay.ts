import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * A relay before a Redis that loses what a worker asks on the connection that blocks, and on each that is opened later: everything,
 * or what stands behind a wait, while the wait itself is answered. Or it loses what that connection is answered.
 */
export interface HalfDeafRelay {
    port: number;
    lose(what: 'everything' | 'what follows a wait' | 'answers'): void;
    /** Hears everything again, and cuts the connections of which something was lost: nobody would say it again. */
    hear(): void;
    close(): Promise<void>;
}

const WAIT = '$8\r\nbzpopmin\r\n';
const QUESTION = /\*\d+\r\n\$7\r\nevalsha\r\n/i;

export async function startHalfDeafRelay(target: number): Promise<HalfDeafRelay> {
    let losing: Parameters<HalfDeafRelay['lose']>[0] | undefined;
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
        const far = connect(target, '127.0.0.1');
        const isLate = losing !== undefined;
        let isBlocking = false;
        let isDeaf = false;
        near.on('data', (bytes: Buffer) => {
            const text = bytes.toString('latin1');
            isBlocking ||= text.includes(WAIT);
            isDeaf ||= losing === 'everything' && (isBlocking || isLate);
            if (isDeaf) return;
            const question = losing === 'what follows a wait' && (isBlocking || isLate) ? text.search(QUESTION) : -1;
            isDeaf = question >= 0;
            far.write(isDeaf ? bytes.subarray(0, question) : bytes);
        });
        far.on('data', (bytes) => {
            const isLost = (losing === 'everything' && (isBlocking || isLate)) || (losing === 'answers' && isBlocking);
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
