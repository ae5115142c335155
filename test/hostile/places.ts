import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { createAuthority, issueCertificate } from '../support/certificates.ts';
import type { Place } from './behaviour.ts';

/** Where one behaviour is reached. */
export interface OpenPlace {
    scheme: 'http' | 'https';
    port: number;
    close(): Promise<void>;
}

type Serve = (socket: Socket) => void;

/** Opens a place for a behaviour that needs more than plain HTTP. `serve` gets each connection. */
export async function openPlace(place: Place, host: string, serve: Serve, authority = createAuthority()): Promise<OpenPlace> {
    switch (place.kind) {
        case 'tls':
            return listening('https', createTlsServer({ ...certificateOf(place, host, authority), ...place.options }, serve));
        case 'not tls':
            return listening('https', createServer(serve));
        case 'deaf':
            return openDeaf();
        case 'refused': {
            const closed = await listening('http', createServer(serve));
            await closed.close();
            return { ...closed, close: async () => {} };
        }
        default:
            return listening('http', createServer(serve));
    }
}

/** Makes this process trust our authority beside the usual ones. Returns a function that undoes it. */
export function trust(authority: { cert: string }): () => void {
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, authority.cert]);
    return () => setDefaultCACertificates(usual);
}

function certificateOf({ certificate }: Extract<Place, { kind: 'tls' }>, host: string, authority: ReturnType<typeof createAuthority>) {
    switch (certificate) {
        case 'self-signed':
            return createAuthority(host);
        case 'unknown authority':
            return issueCertificate(createAuthority(), host);
        case 'wrong name':
            return issueCertificate(authority, 'elsewhere.test');
        default:
            return issueCertificate(authority, host, { expired: certificate === 'expired' });
    }
}

async function listening(scheme: OpenPlace['scheme'], server: Server): Promise<OpenPlace> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
        socket.on('error', () => {});
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
    });
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
        scheme,
        port: (server.address() as AddressInfo).port,
        close: () =>
            new Promise((done) => {
                server.close(() => done());
                for (const socket of sockets) socket.destroy();
            }),
    };
}

/** A listener whose short queue is full, so that the kernel drops further connections. */
export async function openDeaf(): Promise<OpenPlace> {
    const thread = new Worker(new URL('deaf-listener.ts', import.meta.url));
    const [port] = (await once(thread, 'message')) as [number];
    const first = connect(port, '127.0.0.1').on('error', () => {});
    await once(first, 'connect');
    const others = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await once(others[0] ?? first, 'connect');
    return {
        scheme: 'http',
        port,
        async close() {
            for (const socket of [first, ...others]) socket.destroy();
            await thread.terminate();
        },
    };
}
