import type { Server as Listener } from 'node:http';
import hapi, { type Server } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import { createServer } from '../shared/platform/node-http.ts';
import { connectionBounds } from './admission/connection-bounds.ts';
import { gate } from './admission/gate.ts';
import { invalidRequests } from './admission/invalid-requests.ts';
import { MAX_HEADER_BYTES, MAX_HEADERS, rawRefusals } from './admission/raw-refusals.ts';
import { slowReaders } from './admission/slow-readers.ts';
import { slowRefusals } from './admission/slow-refusals.ts';
import { writeThrottling } from './admission/writes.ts';
import { agentTools } from './agents/mcp.ts';
import { GZIP_LEVEL } from './answers/packed.ts';
import { apps } from './apps/plugin.ts';
import { apiKey } from './auth/api-key.ts';
import { session } from './auth/session.ts';
import { stripeWebhook } from './billing/webhook.ts';
import { dashboard } from './dashboard/dashboard.ts';
import { refusalPages } from './dashboard/refusal-pages.ts';
import { fetchRefusals } from './fetch/record-refusals.ts';
import { probes } from './health/probes.ts';
import { collectProblems, input } from './plugins/input.ts';
import { observe } from './plugins/observe.ts';
import { oneHost } from './plugins/one-host.ts';
import { otherMethods } from './plugins/other-methods.ts';
import { refusals } from './plugins/refusals.ts';
import { v1 } from './routes.ts';
import { packageFormat } from './schemas/package-schema.ts';

/** First checks of connections and requests before hapi, then of requests in hapi, then the routes. */
const PLUGINS = [
    ...[connectionBounds, rawRefusals, gate, slowReaders],
    ...[observe, oneHost, apiKey, session, slowRefusals, invalidRequests, writeThrottling, input, fetchRefusals, refusalPages, refusals],
    ...[v1, packageFormat, probes, stripeWebhook, agentTools, apps, dashboard, otherMethods],
];

/** Creates the API with all its routes. It does not listen yet. */
export async function buildServer(app: App): Promise<Server> {
    const server = hapi.server({
        listener: createListener(app),
        port: app.config.port,
        // Without a host Node listens on :: for IPv4 and IPv6, and on 0.0.0.0 where the machine has no IPv6.
        ...(app.config.host === undefined ? {} : { host: app.config.host }),
        compression: { minBytes: 1024 },
        router: { isCaseSensitive: true, stripTrailingSlash: false },
        routes: {
            timeout: { server: false },
            compression: { gzip: { level: GZIP_LEVEL }, deflate: { level: GZIP_LEVEL } },
            // Answers are small and whole: a Range header is ignored, as RFC 9110 allows.
            response: { ranges: false },
            // An invalid cookie of another application must not turn a valid call into a 400.
            state: { parse: true, failAction: 'ignore' },
            // api/bodies/ reads bodies, limits their size and refuses them (decision 21).
            payload: { parse: false, output: 'stream', override: 'application/octet-stream', maxBytes: Number.MAX_SAFE_INTEGER },
            validate: { failAction: collectProblems },
        },
        // We log and answer errors ourselves; hapi would print a second line.
        debug: false,
    });
    await server.register(PLUGINS.map((plugin) => ({ plugin, options: { app } })));
    return server;
}

function createListener({ config: { arrivalMs } }: App): Listener {
    const listener = createServer({
        headersTimeout: arrivalMs,
        requestTimeout: arrivalMs,
        connectionsCheckingInterval: Math.min(100, arrivalMs),
        keepAliveTimeout: 65_000,
        maxHeaderSize: MAX_HEADER_BYTES,
        // The plugin one-host checks the Host header, so that the refusal has our envelope.
        requireHostHeader: false,
    });
    listener.maxHeadersCount = MAX_HEADERS;
    return listener;
}
