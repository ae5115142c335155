import { type Connection, openConnection } from './connection.ts';

/** Connections to one server that are kept, as a proxy keeps them. */
export interface Pool {
    /** One that is free, or a new one. */
    take(): Connection;
    giveBack(connection: Connection): void;
    /** One that is never free for others. */
    another(): Connection;
    close(): void;
}

/** Few at a time: Node accepts one a turn of its event loop, and anyone who finds the queue full tries again after a second. */
const WAVE = 20;

/** Opens and uses so many connections once. */
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
