import type { App } from '../app.ts';
import { listenFault } from '../platform/listen-fault.ts';
import { createServer } from '../platform/node-http.ts';
import { isReady } from './is-up.ts';

/**
 * Serves /metrics of this process on METRICS_PORT, together with /livez and /readyz. These have the same meaning as on an API; a worker has
 * no other port. Does nothing if METRICS_PORT is not set. @param hasStarted whether the process has started; /readyz fails before
 * @throws ConfigFault if it cannot listen on the port
 */
export async function openMetricsServer(app: App, hasStarted: () => boolean): Promise<{ close(): Promise<void> }> {
    const { config, log } = app;
    if (config.metricsPort === undefined) return { close: async () => {} };
    const server = createServer((request, response) => {
        const read = PAGES.get(request.url ?? '');
        if (read === undefined) return void response.writeHead(404).end();
        read(app, hasStarted).then(
            ({ status, type, text }) => response.writeHead(status, { 'content-type': type }).end(text),
            (error: unknown) => {
                log.error({ part: 'metrics', err: error }, 'the metrics could not be collected');
                response.writeHead(500).end();
            },
        );
    });
    const place = { name: 'METRICS_PORT', port: config.metricsPort, host: config.host } as const;
    await new Promise<void>((resolve, reject) => {
        server.once('error', async (error) => reject(await listenFault(error, place)));
        server.listen(place.port, config.host, resolve);
    });
    return {
        close: () =>
            new Promise((resolve) => {
                server.close(() => resolve());
                server.closeAllConnections();
            }),
    };
}

interface Page {
    status: number;
    type: string;
    text: string;
}

const PAGES: ReadonlyMap<string, (app: App, hasStarted: () => boolean) => Promise<Page>> = new Map([
    ['/metrics', async ({ metrics: { registry } }: App) => ({ status: 200, type: registry.contentType, text: await registry.metrics() })],
    ['/livez', async () => ({ status: 200, type: 'text/plain', text: 'ok' })],
    [
        '/readyz',
        async (app: App, hasStarted: () => boolean) => {
            const ready = hasStarted() && (await isReady(app));
            return { status: ready ? 200 : 503, type: 'text/plain', text: ready ? 'ok' : 'unavailable' };
        },
    ],
]);
