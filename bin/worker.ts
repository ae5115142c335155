import { openApp } from '../shared/app.ts';
import { readConfig, requireDatabase } from '../shared/config.ts';
import { runUntilSignal } from '../shared/lifecycle.ts';
import { openLog } from '../shared/log.ts';
import { openMetricsServer } from '../shared/metrics-server.ts';
import { startSweeper } from '../workers/sweep.ts';
import { openWorker } from '../workers/worker.ts';
import { runToEnd } from './run-to-end.ts';

await runToEnd(async () => {
    const config = requireDatabase(readConfig());
    const log = openLog(config.logLevel);
    await runUntilSignal({
        log,
        graceMs: config.shutdownGraceMs,
        start: async (cleanup) => {
            const app = openApp(config, { role: 'worker', log });
            cleanup.add('app', () => app.close());
            const metricsServer = await openMetricsServer(app);
            cleanup.add('metrics', () => metricsServer.close());
            const sweeper = startSweeper(app);
            cleanup.add('sweeper', () => sweeper.stop());
            const worker = await openWorker(app);
            cleanup.add('worker', () => worker.close(), { timeoutMs: config.shutdownGraceMs });
        },
    });
});
