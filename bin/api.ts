import { startApi } from '../api/start-api.ts';
import { openApp } from '../shared/app.ts';
import { openMetricsServer } from '../shared/health/metrics-server.ts';
import { readConfig, requireDatabase } from '../shared/platform/config.ts';
import { runUntilSignal } from '../shared/platform/lifecycle.ts';
import { createLog } from '../shared/platform/log.ts';
import { openTracing } from '../shared/platform/tracing/open.ts';
import { collectGarbage } from './memory.ts';
import { runToEnd } from './run-to-end.ts';

await runToEnd(async () => {
    const config = requireDatabase(readConfig());
    const log = createLog(config.logLevel);
    await runUntilSignal({
        log,
        graceMs: config.shutdownGraceMs,
        start: async (cleanup) => {
            const tracing = await openTracing(config, { service: 'routebook-api', log });
            cleanup.add('traces', () => tracing.close());
            const app = openApp(config, { role: 'api', log, tracing });
            cleanup.add('app', () => app.close());
            const metricsServer = await openMetricsServer(app);
            cleanup.add('metrics', () => metricsServer.close());
            const api = await startApi(app);
            cleanup.add('api', () => api.stop(), { timeoutMs: config.shutdownGraceMs });
            collectGarbage();
            log.info({ url: app.publicUrl() }, `routebook ready on ${app.publicUrl()}`);
        },
    });
});
