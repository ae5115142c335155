import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections and to anyone who asks for any port, so
 * that nobody takes one between the look and the start of the program that is to listen there.
 */
const LOWEST = 12_000;
const HIGHEST = 32_000;

/** A loopback port that is free, and the `count` - 1 above it with it. By chance, since other tests look at the same time. */
export async function freePort(count = 1): Promise<number> {
    for (;;) {
        const first = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
        const ports = Array.from({ length: count }, (_, above) => first + above);
        if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
    }
}

async function isFree(port: number): Promise<boolean> {
    const server = createServer().listen(port, '127.0.0.1');
    try {
        await once(server, 'listening');
    } catch {
        return false;
    }
    server.close();
    await once(server, 'close');
    return true;
}
