import { type Connection, openConnection } from './connection.ts';

/** Keep-alive connections to one server, like those of a proxy. */
interface Pool {
    /** Takes a free connection, or opens one. */
    take(): Connection;
    giveBack(connection: Connection): void;
    /** Opens a connection that is never free for other calls. */
    another(): Connection;
    close(): void;
}

/**
 * Connections opened at a time. Node accepts one per turn of its event loop. A client that finds the queue full tries again only after a
 * second.
 */
const WAVE = 20;

/** Opens `size` connections and uses each once. */
export async function openPool({ host, hostname, port }: URL, size: number): Promise<Pool> {
    const all: Connection[] = [];
    const free: Connection[] = [];
    const another = () => {
        const connection = openConnection(hostname, Number(port));
        all.push(connection);
        return connection;
    };
    const ask = Buffer.from(`GET /livez HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    while (free.length < size) {
        const wave = Array.from({ length: Math.min(WAVE, size - free.length) }, another);
        await Promise.all(wave.map((connection) => new Promise<void>((done) => connection.call(ask, () => done()))));
        free.push(...wave);
    }
    return {
        take: () => free.pop() ?? another(),
        giveBack: (connection) => void free.push(connection),
        another,
        close() {
            for (const connection of all) connection.close();
        },
    };
}
