import { join } from 'node:path';
import { startApi } from '../api/start-api.ts';
import { openApp } from '../shared/app.ts';
import { parseEgressAllow } from '../shared/domain/site/egress-allow.ts';
import { openMetricsServer } from '../shared/health/metrics-server.ts';
import { migrateAll } from '../shared/migrate.ts';
import { type Config, readConfig } from '../shared/platform/config.ts';
import { findRunning, startEmbeddedPostgres } from '../shared/platform/embedded-postgres.ts';
import { type Cleanup, runUntilSignal } from '../shared/platform/lifecycle.ts';
import { checkPort } from '../shared/platform/listen-fault.ts';
import { createLog, type Log } from '../shared/platform/log.ts';
import { openTracing } from '../shared/platform/tracing/open.ts';
import { indexWaitingSites } from '../workers/index/index-endpoints.ts';
import { startRollUps } from '../workers/roll-up.ts';
import { startSweeper } from '../workers/sweep.ts';
import { startVerifier } from '../workers/verify.ts';
import { openWorker } from '../workers/worker.ts';
import { makeDataDir } from './data-dir.ts';
import { baseUrl } from './demo/base-url.ts';
import { demoKey } from './demo/key.ts';
import { DEMO_SITE, type DemoSite, openDemoSite } from './demo/site.ts';
import { loadStarterRegistry, publishDemo } from './demo/starter-registry.ts';
import { runToEnd } from './run-to-end.ts';
import { keepSecretKeys } from './secret-keys.ts';
import { terminalLog } from './terminal-log.ts';

/** Maximum time for indexing before the API starts. */
const FIRST_INDEX_MS = 10_000;

/**
 * The command for a first try: runs everything in one process, with an embedded PostgreSQL if DATABASE_URL is not set. On a terminal it
 * logs only warnings, in words, so that its few lines for the user stay visible.
 */
await runToEnd(async () => {
    const config = readConfig();
    const isForAPerson = process.stdout.isTTY && config.logLevel === 'info';
    const log = isForAPerson ? createLog('warn', terminalLog(process.stdout)) : createLog(config.logLevel);
    await runUntilSignal({ log, graceMs: config.shutdownGraceMs, start: (cleanup) => start(config, log, cleanup) });
});

async function start(settings: Config, log: Log, cleanup: Cleanup): Promise<void> {
    const host = settings.host ?? '127.0.0.1';
    makeDataDir(settings);
    await checkPorts(settings, host);
    const databaseUrl = await openDatabase(settings, log, cleanup);
    await migrateAll(databaseUrl);

    const demo = settings.demo ? await openDemoSite(settings.port === 0 ? 0 : settings.port + 1) : undefined;
    if (demo !== undefined) cleanup.add('demo site', () => demo.close());
    const config = {
        ...settings,
        ...(demo === undefined ? {} : allowDemoSite(settings, demo.port)),
        secretKeys: settings.secretKeys.length > 0 ? settings.secretKeys : keepSecretKeys(settings.dataDir),
        host,
        databaseUrl,
    };

    let hasStarted = false;
    const tracing = await openTracing(config, { service: 'routebook', log });
    cleanup.add('traces', () => tracing.close());
    const app = openApp(config, { role: 'api', log, tracing });
    cleanup.add('app', () => app.close());
    const metricsServer = await openMetricsServer(app, () => hasStarted);
    cleanup.add('metrics', () => metricsServer.close());
    const workerApp = openApp(config, { role: 'worker', log, metrics: app.metrics, tracing });
    cleanup.add('worker app', () => workerApp.close());
    cleanup.add('sweeper', startSweeper(workerApp).stop);
    cleanup.add('roll-ups', startRollUps(workerApp).stop);

    await loadStarterRegistry(app);
    const key = demo === undefined ? undefined : await demoKey(app);
    if (demo !== undefined && key !== undefined) await publishDemo(app, demo.port, key.workspaceId);
    // Index first, up to a time limit, so that the first search is complete. The worker indexes the rest.
    const indexUntil = performance.now() + FIRST_INDEX_MS;
    await indexWaitingSites(workerApp, () => performance.now() > indexUntil);
    const worker = await openWorker(workerApp);
    cleanup.add('worker', () => worker.close(), { timeoutMs: config.shutdownGraceMs });
    cleanup.add('verifier', startVerifier(workerApp).stop);
    const api = await startApi(app);
    cleanup.add('api', () => api.stop(), { timeoutMs: config.shutdownGraceMs });
    workerApp.setPort(api.port);
    hasStarted = true;

    process.stdout.write(`\nroutebook ready on ${app.publicUrl()}\n`);
    if (key !== undefined && demo !== undefined) printFirstSteps(key.apiKey, { base: baseUrl(settings.host, api.port), demo });
}

/** Reports a taken port before a database starts. Skipped if another process uses the data folder: that error is clearer. */
async function checkPorts({ port, metricsPort, dataDir }: Config, host: string): Promise<void> {
    if (findRunning(dataDir) !== undefined) return;
    await checkPort({ name: 'PORT', port, host });
    if (metricsPort !== undefined) await checkPort({ name: 'METRICS_PORT', port: metricsPort, host });
}

async function openDatabase(config: Config, log: Log, cleanup: Cleanup): Promise<string> {
    if (config.databaseUrl !== undefined) return config.databaseUrl;
    const server = await startEmbeddedPostgres({ dataDir: config.dataDir, log });
    cleanup.add('postgres server', () => server.stop());
    // The first start, or the folder was deleted: then accounts and keys are gone, too.
    if (server.isNew) process.stdout.write(`no database was in ${join(config.dataDir, 'postgres')}: created a new, empty one\n`);
    return server.url;
}

/** Lets the worker reach the demo site and nothing else on this machine. */
function allowDemoSite({ egressAllow, egressHosts }: Config, port: number): Pick<Config, 'egressAllow' | 'egressHosts'> {
    const allowed = parseEgressAllow(`127.0.0.1/32:${port}`);
    return {
        egressAllow: [...egressAllow, ...(allowed.ok ? allowed.entries : [])],
        egressHosts: new Map([...egressHosts, [DEMO_SITE, ['127.0.0.1']]]),
    };
}

function printFirstSteps(key: string, { base, demo }: { base: string; demo: DemoSite }): void {
    const note = demo.taken === undefined ? '' : ` (${demo.taken} is taken: use ${demo.port} where the guides say ${demo.taken})`;
    const body = JSON.stringify({ site: DEMO_SITE, endpoint: 'search_products', params: { q: 'shoes' } });
    process.stdout.write(`demo shop ready on port ${demo.port} of this machine${note}

demo API key: ${key}

Try it:
curl -s ${base}/v1/fetch -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'

Ctrl-C stops everything. The next start has the same data.
`);
}
