import { openApp } from '../shared/app.ts';
import { openMetricsServer } from '../shared/health/metrics-server.ts';
import { readConfig, requireDatabase } from '../shared/platform/config.ts';
import { runUntilSignal } from '../shared/platform/lifecycle.ts';
import { createLog } from '../shared/platform/log.ts';
import { openTracing } from '../shared/platform/tracing/open.ts';
import { startRollUps } from '../workers/roll-up.ts';
import { startSweeper } from '../workers/sweep.ts';
import { startVerifier } from '../workers/verify.ts';
import { openWorker } from '../workers/worker.ts';
import { collectGarbage } from './memory.ts';
import { runToEnd } from './run-to-end.ts';

await runToEnd(async () => {
    const config = requireDatabase(readConfig());
    const log = createLog(config.logLevel);
    await runUntilSignal({
        log,
        graceMs: config.shutdownGraceMs,
        start: async (cleanup) => {
            const tracing = await openTracing(config, { service: 'routebook-worker', log });
            cleanup.add('traces', () => tracing.close());
            const app = openApp(config, { role: 'worker', log, tracing });
            cleanup.add('app', () => app.close());
            const metricsServer = await openMetricsServer(app);
            cleanup.add('metrics', () => metricsServer.close());
            const sweeper = startSweeper(app);
            cleanup.add('sweeper', () => sweeper.stop());
            const rollUps = startRollUps(app);
            cleanup.add('roll-ups', () => rollUps.stop());
            collectGarbage();
            const worker = await openWorker(app);
            const close = () => {
                app.drain();
                return worker.close();
            };
            cleanup.add('worker', close, { timeoutMs: config.shutdownGraceMs });
            const verifier = startVerifier(app);
            cleanup.add('verifier', () => verifier.stop());
        },
    });
});
