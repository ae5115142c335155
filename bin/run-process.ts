import { type App, openApp } from '../shared/app.ts';
import { logUntilMigrated } from '../shared/health/is-up.ts';
import { openMetricsServer } from '../shared/health/metrics-server.ts';
import { readConfig, requireDatabase } from '../shared/platform/config.ts';
import { type Cleanup, runUntilSignal } from '../shared/platform/lifecycle.ts';
import { createLog } from '../shared/platform/log.ts';
import { openTracing } from '../shared/platform/tracing/open.ts';
import { runToEnd } from './run-to-end.ts';

/** Runs an API or a worker until a signal ends it. @param start opens what only this role needs */
export async function runProcess(role: 'api' | 'worker', start: (app: App, cleanup: Cleanup) => Promise<void>): Promise<void> {
    await runToEnd(async () => {
        const config = requireDatabase(readConfig());
        const log = createLog(config.logLevel);
        await runUntilSignal({
            log,
            graceMs: config.shutdownGraceMs,
            start: async (cleanup) => {
                let hasStarted = false;
                const tracing = await openTracing(config, { service: `routebook-${role}`, log });
                cleanup.add('traces', () => tracing.close());
                const app = openApp(config, { role, log, tracing });
                cleanup.add('app', () => app.close());
                void logUntilMigrated(app);
                const metricsServer = await openMetricsServer(app, () => hasStarted);
                cleanup.add('metrics', () => metricsServer.close());
                await start(app, cleanup);
                hasStarted = true;
            },
        });
    });
}
