import { createServer, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import hapi, { type Server } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import { newId } from '../shared/domain/ids.ts';
import { Refusal } from '../shared/refusals.ts';
import { probes } from './health/probes.ts';
import { pages } from './pages/routes.ts';
import { apiKey } from './plugins/api-key.ts';
import { observe } from './plugins/observe.ts';
import { envelope, refusals } from './plugins/refusals.ts';
import { slowReaders } from './plugins/slow-readers.ts';
import { ROUTES } from './routes.ts';

const MAX_HEADERS = 200;
/** Open sockets of one process; past it new connections are refused by the kernel's backlog, not by memory. */
const MAX_CONNECTIONS = 10_000;

/** The API with all its routes; it does not listen yet. */
export function buildServer(app: App): Server {
    const listener = createServer({
        headersTimeout: app.config.arrivalMs,
        requestTimeout: app.config.arrivalMs,
        connectionsCheckingInterval: Math.min(500, app.config.arrivalMs),
        keepAliveTimeout: 65_000,
        maxHeaderSize: 16 * 1024,
        // Judged below, so that its refusal has the envelope.
        requireHostHeader: false,
    });
    listener.maxHeadersCount = MAX_HEADERS;
    listener.maxConnections = MAX_CONNECTIONS;
    const server = hapi.server({
        listener,
        port: app.config.port,
        host: app.config.host ?? '0.0.0.0',
        compression: { minBytes: 1024 },
        router: { isCaseSensitive: true, stripTrailingSlash: false },
        routes: {
            timeout: { server: false },
            // Answers are small and whole: a Range header is ignored, as RFC 9110 allows.
            response: { ranges: false },
            // A cookie of somebody else's making must not turn a good call into a 400.
            state: { parse: true, failAction: 'ignore' },
        },
        // We log and answer errors ourselves; hapi's own console output would be a second line of another form.
        debug: false,
    });
    listener.removeAllListeners('clientError');
    listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseRaw(app, error, socket));
    // An expectation that nobody has is ignored: Node would answer 417 outside of our envelope.
    listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
    requireOneHost(server);
    observe(server, app);
    slowReaders(server, 2 * app.config.arrivalMs);
    refusals(server, app);
    apiKey(server, app);
    server.route(ROUTES.map((route) => route.toHapi(app)));
    probes(server, app);
    pages(server, app);
    answerOtherMethods(server);
    return server;
}

/** OPTIONS is answered 204 on every known path; any other method that the path does not take is 405 with Allow. */
function answerOtherMethods(server: Server): void {
    const routesByPath = Map.groupBy(server.table(), ({ path }) => path);
    for (const [path, routes] of routesByPath) {
        const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
        const allow = [...methods, 'OPTIONS'].join(', ');
        const isOpen = routes.some(({ settings }) => settings.app?.contract?.auth !== 'required');
        server.route({
            method: '*',
            path,
            options: { app: { allow, isOpen }, payload: { parse: false, override: 'application/octet-stream', output: 'stream' } },
            handler: (request, h) => {
                if (request.method !== 'options') throw new Refusal('METHOD_NOT_ALLOWED', undefined, { headers: { allow } });
                return h
                    .response()
                    .code(204)
                    .header('allow', allow)
                    .header('access-control-allow-methods', allow)
                    .header(
                        'access-control-allow-headers',
                        'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, X-Service-Intent, X-Service-Session',
                    )
                    .header('access-control-max-age', '86400');
            },
        });
    }
}

/** Two Host headers pass Node and hapi; proxies disagree on which counts, so neither does here. HTTP/1.0 knows none. */
function requireOneHost(server: Server): void {
    server.ext('onPreAuth', (request, h) => {
        const hosts = request.raw.req.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
        const isMissing = hosts.length === 0 && request.raw.req.httpVersion !== '1.0';
        if (isMissing || hosts.length > 1) throw new Refusal('VALIDATION_ERROR', 'The Host header has to stand exactly once.');
        return h.continue;
    });
}

/** What Node's HTTP parser refuses never becomes a request; it is answered here in the same envelope. */
function refuseRaw(app: App, error: NodeJS.ErrnoException, socket: Socket): void {
    // An answer that is on its way already must not be followed by another one that nobody asked for.
    const { _httpMessage: running } = socket as { _httpMessage?: { headersSent: boolean } };
    if (socket.destroyed || !socket.writable || running?.headersSent) return void socket.destroy();
    const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const refusal = timedOut ? new Refusal('REQUEST_TIMEOUT') : new Refusal('VALIDATION_ERROR', 'The request is not well-formed HTTP/1.1.');
    const requestId = newId('req');
    const body = JSON.stringify(envelope(refusal, { app: { requestId } }, app.publicUrl()));
    const status = timedOut ? 408 : 400;
    const head = [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${requestId}`,
        'connection: close',
    ];
    app.metrics.httpRequests.inc({ method: 'other', route: 'other', status });
    app.log.info({ request_id: requestId, method: 'other', route: 'other', status, code: refusal.code }, 'answered');
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
