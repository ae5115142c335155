import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { parseEgressAllow } from '../../shared/domain/site/egress-allow.ts';
import type { Method, UpstreamRequest } from '../../shared/domain/types.ts';
import type { EgressRules } from '../../workers/egress.ts';
import type { Certificate } from './certificates.ts';

/** A request that a site received. */
export interface Seen {
    method: string;
    path: string;
    headers: IncomingMessage['headers'];
    /** The original names and values. */
    rawHeaders: string[];
    body: string;
    /** The original bytes of the body. */
    bytes: Buffer;
}

/** A site on loopback, on a free port. */
export interface Site {
    port: number;
    /** Complete requests in order. */
    seen: Seen[];
    /** The number of connections so far. */
    connections(): number;
    close(): Promise<void>;
}

/** Opens a normal site. The listener runs when the request's body is complete. With a certificate the site uses https. */
export async function openSite(
    listener: (request: IncomingMessage & { text: string }, response: Parameters<RequestListener>[1]) => void,
    { certificate, host = '127.0.0.1' }: { certificate?: Certificate; host?: string } = {},
): Promise<Site> {
    const seen: Seen[] = [];
    const answer: RequestListener = async (request, response) => {
        const bytes = Buffer.concat(await request.toArray().catch(() => []));
        const text = bytes.toString();
        seen.push({
            method: request.method ?? '',
            path: request.url ?? '',
            headers: request.headers,
            rawHeaders: request.rawHeaders,
            body: text,
            bytes,
        });
        listener(Object.assign(request, { text }), response);
    };
    const server = certificate === undefined ? createServer(answer) : createTlsServer(certificate, answer);
    return { ...(await listen(server, host)), seen };
}

/** Opens a site on the level of bytes. `serve` gets the connection and the head of each request on it. */
export async function openRawSite(serve: (socket: Socket, path: string, head: string) => void): Promise<Site> {
    const seen: Seen[] = [];
    const server = createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.on('data', (chunk: Buffer) => {
            const head = chunk.toString('latin1');
            const [method = '', path = ''] = head.split(' ', 2);
            seen.push({ method, path, headers: {}, rawHeaders: [], body: head, bytes: chunk });
            serve(socket, path, head);
        });
    });
    return { ...(await listen(server, '127.0.0.1')), seen };
}

async function listen(server: Server | TcpServer, host: string): Promise<Omit<Site, 'seen'>> {
    let connections = 0;
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
        connections++;
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((done, fail) => {
        server.once('error', fail);
        server.listen(0, host, done);
    });
    return {
        port: (server.address() as AddressInfo).port,
        connections: () => connections,
        close: () =>
            new Promise((done) => {
                server.close(() => done());
                for (const socket of sockets) socket.destroy();
            }),
    };
}

/** Egress rules with these entries of EGRESS_ALLOW, in which names resolve to loopback. */
export function loopbackRules(allow: string, hosts: Record<string, string | string[]> = { 'shop.test': '127.0.0.1' }): EgressRules {
    const parsed = parseEgressAllow(allow);
    if (!parsed.ok) throw new Error(parsed.problem);
    return { allow: parsed.entries, hosts: new Map(Object.entries(hosts).map(([name, to]) => [name, [to].flat()])), proxyUrl: undefined };
}

/** A request as `buildRequest` would make it. */
export function requestTo(url: string, { method = 'GET', body }: { method?: Method; body?: string } = {}): UpstreamRequest {
    const headers: Record<string, string> = {
        accept: '*/*',
        'user-agent': 'Routebook/test (+http://localhost/abuse)',
        'accept-encoding': 'gzip',
    };
    if (body === undefined) return { method, url, headers, bodyShown: null };
    return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body, bodyShown: null };
}
