import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Linux (from 32768) and macOS (from 49152) use higher ports for outgoing connections and for programs that ask for any port. So no other
 * program takes a port of this range between the check and the start of the program that uses it.
 */
const LOWEST = 12_000;
const HIGHEST = 32_000;

/**
 * Returns a free loopback port; the next `count` - 1 ports are free too. It is chosen at random, since other tests search at the same time.
 */
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
