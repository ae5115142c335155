import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createSecureContext, getCACertificates, type SecureContext, setDefaultCACertificates } from 'node:tls';
import { createAuthority, issueCertificate } from '../support/certificates.ts';

/** A request to a site, in the form of a fixture: the unchanged path, the parsed query, and the body, parsed if it is JSON. */
export interface Asked {
    host: string;
    method: string;
    path: string;
    query: Record<string, string | string[]>;
    body?: unknown;
}

/** The response. A body that is not a text is sent as JSON. */
export interface Reply {
    status: number;
    headers: Record<string, string>;
    body: unknown;
}

/**
 * All hosts on loopback: a proxy for EGRESS_PROXY_URL whose tunnels end in one https server, which has a certificate for every requested
 * name. Packages run unchanged, with their https URLs, and no byte leaves this machine.
 */
export interface Internet {
    proxyUrl: string;
    /** Requests in order, since the last `willAnswer`. */
    asked: Asked[];
    /** Their headers, in the same order. */
    headers: IncomingHttpHeaders[];
    /** The number of requested tunnels, ever. */
    tunnels(): number;
    /** Responses for the next requests. A request beyond them gets a 500. */
    willAnswer(replies: readonly Reply[]): void;
    close(): Promise<void>;
}

export async function openInternet(): Promise<Internet> {
    const authority = createAuthority();
    const trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, authority.cert]);

    const contexts = new Map<string, SecureContext>();
    const contextOf = (name: string) => {
        const context = contexts.get(name) ?? createSecureContext(issueCertificate(authority, name));
        contexts.set(name, context);
        return context;
    };
    const asked: Asked[] = [];
    const headersOfAsked: IncomingHttpHeaders[] = [];
    let replies: Reply[] = [];
    const sites = createTlsServer({ SNICallback: (name, done) => done(null, contextOf(name)) }, (request, response) => {
        const { status, headers, body } = replies.shift() ?? { status: 500, headers: {}, body: 'nobody said what to answer' };
        text(request).then((sent) => {
            const line = read(request.headers.host ?? '', request.method ?? '', request.url ?? '');
            headersOfAsked.push(request.headers);
            asked.push(sent === '' ? line : { ...line, body: bodyOf(sent, request.headers['content-type']) });
            response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
        }, ignore);
    });

    let tunnels = 0;
    const sockets = new Set<Socket>();
    const proxy = createServer((_request, response) => response.writeHead(405).end());
    proxy.on('connect', (_request, socket: Socket) => {
        tunnels += 1;
        sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy()));
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n', () => sites.emit('connection', socket));
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));

    return {
        proxyUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        asked,
        headers: headersOfAsked,
        tunnels: () => tunnels,
        willAnswer(next) {
            replies = [...next];
            asked.length = 0;
            headersOfAsked.length = 0;
        },
        close() {
            setDefaultCACertificates(trusted);
            return new Promise((done) => {
                proxy.close(() => done());
                for (const socket of sockets) socket.destroy();
            });
        },
    };
}

/** The caller disconnected and needs no response. */
function ignore(): void {}

function bodyOf(sent: string, contentType = ''): unknown {
    return contentType.startsWith('application/json') ? JSON.parse(sent) : sent;
}

function read(host: string, method: string, target: string): Asked {
    const [path = '', search] = target.split('?', 2);
    const query: Asked['query'] = {};
    const pairs = new URLSearchParams(search);
    for (const name of pairs.keys()) {
        const values = pairs.getAll(name);
        query[name] = values.length > 1 ? values : (values[0] ?? '');
    }
    return { host, method, path, query };
}
