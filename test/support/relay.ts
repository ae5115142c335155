import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay that can stop forwarding (connections stay open, bytes are lost), delay bytes, or close connections. */
export interface Relay {
    port: number;
    silence(): void;
    speak(): void;
    /** Delays every chunk. `ms` is the total of both directions, in milliseconds. */
    delay(ms: number): void;
    close(): Promise<void>;
}

export async function startRelay(target: number): Promise<Relay> {
    let isSilent = false;
    let delayMs = 0;
    const sockets = new Set<Socket>();
    const server: Server = createServer((near) => {
        const far = connect(target, '127.0.0.1');
        for (const [from, to] of [
            [near, far],
            [far, near],
        ] as const) {
            sockets.add(from);
            // Chunks keep their order even if the delay ends between two of them.
            const late: (string | Buffer)[] = [];
            from.on('data', (bytes) => {
                if (isSilent) return;
                if (delayMs === 0 && late.length === 0) return void to.write(bytes);
                late.push(bytes);
                setTimeout(() => {
                    const next = late.shift();
                    if (next !== undefined && !to.destroyed) to.write(next);
                }, delayMs / 2);
            });
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
        silence() {
            isSilent = true;
        },
        speak() {
            // Lost bytes cannot be recovered, so these connections can only be closed.
            isSilent = false;
            for (const socket of sockets) socket.destroy();
        },
        delay(ms) {
            delayMs = ms;
        },
        async close() {
            for (const socket of sockets) socket.destroy();
            server.close();
            await once(server, 'close');
        },
    };
}
