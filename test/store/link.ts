import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';

/** A connection to the database that can lose a reply, or be down. */
export interface Link {
    url: string;
    /**
     * Loses the next reply of the database, and the connection with it. The statement was committed. Returns 1, or 0 if a reply was already
     * marked to be lost.
     */
    loseNextAnswer(): number;
    /** Loses the next reply and keeps the connection open: nothing shows that the reply will not come. */
    swallowNextAnswer(): void;
    /** Cuts every connection and refuses new ones. */
    cut(): void;
    restore(): void;
    close(): Promise<void>;
}

/** A link to the server of this URL, on loopback. */
export async function openLink(databaseUrl: string): Promise<Link> {
    // Parsed by the driver, since the server may listen on a unix socket.
    const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl });
    const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    const sockets = new Set<Socket>();
    let isDown = false;
    let isLosing = false;
    let isSwallowing = false;
    const server: Server = createServer((near) => {
        if (isDown) return void near.destroy();
        const far = connect(target);
        for (const [one, other] of [
            [near, far],
            [far, near],
        ] as const) {
            sockets.add(one);
            one.on('error', () => other.destroy());
            one.on('close', () => {
                sockets.delete(one);
                other.destroy();
            });
        }
        near.on('data', (bytes) => far.write(bytes));
        far.on('data', (bytes) => {
            // A final message 'Z' means that the statement is over and committed.
            const isOver = bytes.at(-6) === 0x5a;
            if ((!isLosing && !isSwallowing) || !isOver) return void near.write(bytes);
            if (isLosing) near.destroy();
            isLosing = false;
            isSwallowing = false;
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}/${database}`);
    url.username = user ?? '';
    url.password = password ?? '';
    return {
        url: url.href,
        loseNextAnswer() {
            const isNew = !isLosing;
            isLosing = true;
            return Number(isNew);
        },
        swallowNextAnswer() {
            isSwallowing = true;
        },
        cut() {
            isDown = true;
            for (const socket of sockets) socket.destroy();
        },
        restore() {
            isDown = false;
        },
        async close() {
            for (const socket of sockets) socket.destroy();
            server.close();
            await once(server, 'close');
        },
    };
}
