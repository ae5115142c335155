import { type App, openApp } from '../shared/app.ts';
import { logUntilMigrated } from '../shared/health/is-up.ts';
import { openMetricsServer } from '../shared/health/metrics-server.ts';
import { readConfig, requireDatabase } from '../shared/platform/config.ts';
import { type Cleanup, runUntilSignal } from '../shared/platform/lifecycle.ts';
import { createLog } from '../shared/platform/log.ts';
import { findRedisFault } from '../shared/platform/redis-fault.ts';
import { ConfigFault } from '../shared/platform/settings-reader.ts';
import { openTracing } from '../shared/platform/tracing/open.ts';
import { within } from '../shared/platform/within.ts';
import { findUnreadable } from '../shared/store/accounts/sealed-rows.ts';
import { runToEnd } from './run-to-end.ts';

/** Logs an error if SECRET_KEYS lacks a key, before callers notice. */
async function logUnreadable({ db, secrets, log }: App): Promise<void> {
    const tables = await findUnreadable(db, secrets).catch(() => []);
    if (tables.length === 0) return;
    log.error(
        { part: 'secrets', tables },
        `no key of SECRET_KEYS decrypts some rows of ${tables.join(', ')}: add the key that encrypted them (docs/operations.md, The key ring)`,
    );
}

/** How long a start waits for the answer of Redis. A Redis that is down does not stop it. */
const REDIS_MS = 1000;

/** @throws ConfigFault if a Redis lacks the database of its URL. Other faults, and later answers, are only logged. */
async function checkRedis({ config, log }: App): Promise<void> {
    const { redisUrl, redisQueueUrl, redisLimitsUrl } = config;
    const urls = { REDIS_URL: redisUrl, REDIS_QUEUE_URL: redisQueueUrl, REDIS_LIMITS_URL: redisLimitsUrl };
    const looks = Object.entries(urls).map(async ([name, url]) => {
        const look = url === undefined ? Promise.resolve(undefined) : findRedisFault(url, name);
        const logged = look.then((fault) => {
            if (fault !== undefined) log.error({ part: 'redis' }, fault.message);
            return fault;
        });
        return within(REDIS_MS, logged, () => undefined);
    });
    const fatal = (await Promise.all(looks)).filter((fault) => fault?.isFatal);
    if (fatal.length > 0) throw new ConfigFault(fatal.map((fault) => fault?.message ?? ''));
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
                await checkRedis(app);
                void logUntilMigrated(app).then(() => logUnreadable(app));
                const metricsServer = await openMetricsServer(app, () => hasStarted);
                cleanup.add('metrics', () => metricsServer.close());
                await start(app, cleanup);
                hasStarted = true;
            },
        });
    });
}
