import hapi, { type RequestRoute, type Server } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import { createServer } from '../shared/platform/node-http.ts';
import { Refusal } from '../shared/refusals.ts';
import { browseThrottling } from './admission/browse-throttling.ts';
import { clientPacing } from './admission/client-pacing.ts';
import { boundConnections } from './admission/connection-bounds.ts';
import { installGate } from './admission/gate.ts';
import { headerCopies } from './admission/header-copies.ts';
import { countInvalidKeys, invalidKeyThrottling } from './admission/invalid-key-throttling.ts';
import { refuseInvalid } from './admission/invalid-request-throttling.ts';
import { overload } from './admission/overload.ts';
import { MAX_HEADER_BYTES, MAX_HEADERS, rawRefusals } from './admission/raw-refusals.ts';
import { serialQueue } from './admission/serial-queue.ts';
import { slowReaders } from './admission/slow-readers.ts';
import { refuseWrites } from './admission/write-throttling.ts';
import { agentTools } from './agents/mcp.ts';
import { apiKey } from './auth/api-key.ts';
import { session } from './auth/session.ts';
import { stripeWebhook } from './billing/webhook.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { refusalPages } from './dashboard/refusal-pages.ts';
import { fetchRefusals } from './fetch/record-refusals.ts';
import { probes } from './health/probes.ts';
import { observe } from './plugins/observe.ts';
import { refusals } from './plugins/refusals.ts';
import { ROUTES } from './routes.ts';

/** Creates the API with all its routes. It does not listen yet. */
export function buildServer(app: App): Server {
    const listener = createServer({
        headersTimeout: app.config.arrivalMs,
        requestTimeout: app.config.arrivalMs,
        connectionsCheckingInterval: Math.min(100, app.config.arrivalMs),
        keepAliveTimeout: 65_000,
        maxHeaderSize: MAX_HEADER_BYTES,
        // Checked below, so that its refusal has our envelope.
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
            // A foreign cookie must not make a valid call a 400.
            state: { parse: true, failAction: 'ignore' },
        },
        // We log and answer errors ourselves; hapi would print a second line.
        debug: false,
    });
    rawRefusals(listener, app);
    // Ignores unknown expectations: Node would answer 417 without our envelope.
    listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
    requireOneHost(server);
    observe(server, app);
    const invalidKeys = countInvalidKeys(app.config.guessesPerSecond);
    const pacing = clientPacing(app);
    installGate(server, [
        serialQueue(),
        pacing.check,
        invalidKeyThrottling(server, app, { invalidKeys, pacing }),
        browseThrottling(server, app),
        overload(server, app),
    ]);
    slowReaders(server, app.log, { stallMs: 2 * app.config.arrivalMs });
    fetchRefusals(server, app);
    refusalPages(server, app);
    refusals(server, app);
    apiKey(server, app, invalidKeys);
    refuseInvalid(server, app);
    session(server, app);
    refuseWrites(server, app);
    server.route(ROUTES.map((route) => route.toHapi(app)));
    probes(server, app);
    stripeWebhook(server, app);
    agentTools(server, app);
    dashboard(server, app);
    answerOtherMethods(server);
    return server;
}

/** OPTIONS is answered 204 on every known path; any other method that the path does not take is 405 with Allow. */
function answerOtherMethods(server: Server): void {
    const routesByPath = Map.groupBy(server.table(), ({ path }) => path);
    for (const [path, routes] of routesByPath) {
        const allow = methodsOf(routes);
        // For CORS, only the methods of our open routes count, not other methods of the path.
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
