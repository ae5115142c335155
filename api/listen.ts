import type { Server } from 'node:http';
import { connect, createServer, type ListenOptions, type Server as TcpServer } from 'node:net';

/**
 * Listening sockets of one port. Node accepts one connection of each in a turn of its loop, however many wait; under load a turn takes
 * 10 ms and more, and with a single socket a crowd of newcomers overflows the kernel's queue and tries again after 1, 2, 4 … seconds.
 * Linux spreads newcomers over the sockets that share a port; elsewhere one has to do.
 */
export const SOCKETS = process.platform === 'linux' ? 16 : 1;
/** Whoever holds a port and does not even shake hands in this time is overrun. */
const HANDSHAKE_MS = 1000;

/** Where to listen: without a host on every interface; port 0 for any that is free. */
export interface ListenPlace {
    host: string | undefined;
    port: number;
}

/** Open listening sockets, whose connections all come to one HTTP server. */
export interface Listening {
    port: number;
    /** Accepts no more. Connections go on. */
    close(): void;
    /** Resolves when, after `close`, the last connection has ended. */
    ended(): Promise<void>;
}

/**
 * Listens on one port for an HTTP server, with several sockets where the system can.
 * @param maxConnections open at once, over all of them; Node closes what comes beyond
 * @throws the system's error (EADDRINUSE, EACCES …), also where the port is shared by somebody who would allow us to take a part
 */
export async function listen(server: Server, { host, port }: ListenPlace, maxConnections: number): Promise<Listening> {
    if (SOCKETS > 1 && port !== 0) await refuseToShare(host, port);
    const shared = { reusePort: SOCKETS > 1 };
    await opened(server, { ...(host === undefined ? {} : { host }), port, ...shared });
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('a server on a TCP port has an address');
    // As Node's HTTP server makes its own.
    const others = Array.from({ length: SOCKETS - 1 }, () => createServer({ allowHalfOpen: true, noDelay: true }));
    const all: TcpServer[] = [server, ...others];
    for (const one of all) one.maxConnections = Math.ceil(maxConnections / SOCKETS);
    const ended = Promise.all(all.map((one) => new Promise<void>((resolve) => one.once('close', () => resolve()))));
    const close = () => {
        for (const one of all) one.close();
    };
    for (const other of others) other.on('connection', (socket) => server.emit('connection', socket));
    try {
        await Promise.all(others.map((other) => opened(other, { host: bound.address, port: bound.port, ...shared })));
    } catch (error) {
        close();
        throw error;
    }
    return { port: bound.port, close, ended: () => ended.then(() => undefined) };
}

function opened(server: TcpServer, options: ListenOptions): Promise<void> {
    return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(options, () => {
            server.removeListener('error', reject);
            resolve();
        });
    });
}

/** Sockets that may share a port share it with those of any process of the same user: a second API would silently take half of the calls. */
async function refuseToShare(host: string | undefined, port: number): Promise<void> {
    const answers = await Promise.all((host === undefined ? ['127.0.0.1', '::1'] : [host]).map((address) => isAnswered(address, port)));
    if (answers.includes(true)) throw Object.assign(new Error(`port ${port} is taken`), { code: 'EADDRINUSE', syscall: 'listen' });
}

function isAnswered(host: string, port: number): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ host, port, timeout: HANDSHAKE_MS });
        const end = (isTaken: boolean) => {
            socket.destroy();
            resolve(isTaken);
        };
        // A connection from a free port may meet itself there.
        socket.once('connect', () => end(socket.localPort !== port || socket.localAddress !== socket.remoteAddress));
        socket.once('timeout', () => end(true));
        socket.once('error', () => end(false));
    });
}
