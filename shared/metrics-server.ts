import { createServer } from 'node:http';
import type { App } from './app.ts';
import { listenFault } from './listen-fault.ts';

/**
 * Serves /metrics of this process on METRICS_PORT; does nothing where that is not set.
 * @throws ConfigFault where it cannot listen there
 */
export async function openMetricsServer({ config, metrics, log }: App): Promise<{ close(): Promise<void> }> {
    if (config.metricsPort === undefined) return { close: async () => {} };
    const server = createServer((request, response) => {
        if (request.url !== '/metrics') return void response.writeHead(404).end();
        metrics.registry.metrics().then(
            (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
            (error: unknown) => {
                log.error({ part: 'metrics', err: error }, 'the metrics could not be collected');
                response.writeHead(500).end();
            },
        );
    });
    const place = { name: 'METRICS_PORT', port: config.metricsPort } as const;
    await new Promise<void>((resolve, reject) => {
        server.once('error', (error) => reject(listenFault(error, place)));
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
