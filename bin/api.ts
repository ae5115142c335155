import './lone-scavenger.ts';
import { startApi } from '../api/start-api.ts';
import { openApp } from '../shared/app.ts';
import { readConfig, requireDatabase } from '../shared/config.ts';
import { runUntilSignal } from '../shared/lifecycle.ts';
import { openLog } from '../shared/log.ts';
import { openMetricsServer } from '../shared/metrics-server.ts';
import { openTracing } from '../shared/tracing/open.ts';
import { collectGarbage } from './collect-garbage.ts';
import { runToEnd } from './run-to-end.ts';

await runToEnd(async () => {
    const config = requireDatabase(readConfig());
    const log = openLog(config.logLevel);
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
