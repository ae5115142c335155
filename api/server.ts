import hapi, { type RequestRoute, type Server } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import { createServer } from '../shared/node-http.ts';
import { Refusal } from '../shared/refusals.ts';
import { agentTools } from './agents/mcp.ts';
import { stripeWebhook } from './billing/webhook.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { refusalPages } from './dashboard/refusal-pages.ts';
import { fetchRefusals } from './fetch/record-refusals.ts';
import { probes } from './health/probes.ts';
import { apiKey } from './plugins/api-key.ts';
import { boundConnections } from './plugins/connection-bounds.ts';
import { headerCopies } from './plugins/header-copies.ts';
import { observe } from './plugins/observe.ts';
import { oneAtATime } from './plugins/one-at-a-time.ts';
import { MAX_HEADER_BYTES, MAX_HEADERS, rawRefusals } from './plugins/raw-refusals.ts';
import { refusals } from './plugins/refusals.ts';
import { openGuesses, refuseGuesses } from './plugins/refuse-guesses.ts';
import { refuseInvalid } from './plugins/refuse-invalid.ts';
import { refuseWrites } from './plugins/refuse-writes.ts';
import { session } from './plugins/session.ts';
import { shedLoad } from './plugins/shed-load.ts';
import { slowReaders } from './plugins/slow-readers.ts';
import { yieldToFetches } from './plugins/yield-to-fetches.ts';
import { ROUTES } from './routes.ts';

/** The API with all its routes; it does not listen yet. */
export function buildServer(app: App): Server {
    const listener = createServer({
        headersTimeout: app.config.arrivalMs,
        requestTimeout: app.config.arrivalMs,
        connectionsCheckingInterval: Math.min(100, app.config.arrivalMs),
        keepAliveTimeout: 65_000,
        maxHeaderSize: MAX_HEADER_BYTES,
        // Judged below, so that its refusal has the envelope.
        requireHostHeader: false,
    });
    listener.maxHeadersCount = MAX_HEADERS;
    boundConnections(listener, app);
    const server = hapi.server({
        listener,
        port: app.config.port,
        // Without a host Node listens on :: for IPv4 and IPv6, and on 0.0.0.0 where the machine has no IPv6.
        ...(app.config.host === undefined ? {} : { host: app.config.host }),
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
    rawRefusals(listener, app);
    // An expectation that nobody has is ignored: Node would answer 417 outside of our envelope.
    listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
    requireOneHost(server);
    observe(server, app);
    shedLoad(server, app);
    slowReaders(server, app.log, { stallMs: 2 * app.config.arrivalMs });
    fetchRefusals(server, app);
    refusalPages(server, app);
    refusals(server, app);
    const guesses = openGuesses(app.config.guessesPerSecond);
    apiKey(server, app, guesses);
    refuseInvalid(server, app);
    session(server, app);
    refuseWrites(server, app);
    server.route(ROUTES.map((route) => route.toHapi(app)));
    probes(server, app);
    stripeWebhook(server, app);
    agentTools(server, app);
    dashboard(server, app);
    answerOtherMethods(server);
    yieldToFetches(server, app);
    refuseGuesses(server, app, guesses);
    oneAtATime(server);
    return server;
}

/** OPTIONS is answered 204 on every known path; any other method that the path does not take is 405 with Allow. */
function answerOtherMethods(server: Server): void {
    const routesByPath = Map.groupBy(server.table(), ({ path }) => path);
    for (const [path, routes] of routesByPath) {
        const allow = methodsOf(routes);
        // Pages of other origins are told of the routes that they may call, not of what servers do at the same path.
        const openRoutes = routes.filter(({ settings: { app } }) => app?.isOpen ?? app?.contract?.auth !== 'required');
        const isOpen = openRoutes.length > 0;
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
                    .header('access-control-allow-methods', methodsOf(isOpen ? openRoutes : routes))
                    .header(
                        'access-control-allow-headers',
                        'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, X-Service-Intent, X-Service-Session',
                    )
                    .header('access-control-max-age', '86400');
            },
        });
    }
}

function methodsOf(routes: readonly RequestRoute[]): string {
    const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    return [...methods, 'OPTIONS'].join(', ');
}

/** Two Host headers pass Node and hapi; proxies disagree on which counts, so neither does here. HTTP/1.0 knows none. */
function requireOneHost(server: Server): void {
    server.ext('onPreAuth', (request, h) => {
        const hosts = headerCopies(request.raw.req, 'host');
        const isMissing = hosts === 0 && request.raw.req.httpVersion !== '1.0';
        if (isMissing || hosts > 1) throw new Refusal('VALIDATION_ERROR', 'The Host header has to stand exactly once.');
        return h.continue;
    });
}
