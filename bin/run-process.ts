import { type App, openApp } from '../shared/app.ts';
import { logUntilMigrated } from '../shared/health/is-up.ts';
import { openMetricsServer } from '../shared/health/metrics-server.ts';
import { readConfig, requireDatabase } from '../shared/platform/config.ts';
import { type Cleanup, runUntilSignal } from '../shared/platform/lifecycle.ts';
import { createLog } from '../shared/platform/log.ts';
import { openTracing } from '../shared/platform/tracing/open.ts';
import { findUnreadable } from '../shared/store/accounts/sealed-rows.ts';
import { runToEnd } from './run-to-end.ts';

/** Logs that SECRET_KEYS lacks a key: callers would be the first to notice. */
async function logUnreadable({ db, secrets, log }: App): Promise<void> {
    const tables = await findUnreadable(db, secrets).catch(() => []);
    if (tables.length === 0) return;
    log.error(
        { part: 'secrets', tables },
        `no key of SECRET_KEYS opens what ${tables.join(', ')} contain: add the key that encrypted it (docs/operations.md, The key ring)`,
    );
}

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
                void logUntilMigrated(app).then(() => logUnreadable(app));
                const metricsServer = await openMetricsServer(app, () => hasStarted);
                cleanup.add('metrics', () => metricsServer.close());
                await start(app, cleanup);
                hasStarted = true;
            },
        });
    });
}
