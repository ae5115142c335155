import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Cleanup, createCleanup } from '../../shared/platform/lifecycle.ts';
import { benchPackage, egressSettings, SITE } from './package.ts';
import { freePort, ROOT, type Started, startNode, untilReady } from './processes.ts';
import { openPostgres, openRedis, type Postgres, type PostgresKind, type Redis } from './servers.ts';

type Settings = Readonly<Record<string, string>>;

/** A topology that serves fetches. */
export interface Service {
    base: string;
    apiKey: string;
}

/** All parts of the bench, each a separate process. */
export interface Stack {
    postgres: Postgres;
    redis: Redis;
    /** `http://127.0.0.1:<port>` of the upstream and of the bare hapi route. */
    upstream: string;
    upstreamProcess: Started;
    bareHapi: string;
    bareHapiProcess: Started;
    /** The production topology: one API and one worker over PostgreSQL and Redis. */
    production: Service & { api: Started; workers: Started[] };
    /** The topology of `npm start`: everything in one process, with PostgreSQL only. */
    embedded: Service & { all: Started };
    settings: { production: Settings; embedded: Settings };
    /** Replace the running workers, or the API. */
    replaceWorkers(count: number, settings?: Settings): Promise<void>;
    replaceApi(settings?: Settings): Promise<void>;
    close(): Promise<void>;
}

interface StackOptions {
    postgres?: PostgresKind | undefined;
    /** Whether the server counts its statements. */
    withStatements?: boolean;
}

/** Opens databases, upstream, both topologies, accounts and the package. */
export async function openStack(options: StackOptions = {}): Promise<Stack> {
    const cleanup = createCleanup(CLOSING);
    try {
        return await open(options, cleanup);
    } catch (error) {
        await cleanup.close();
        throw error;
    }
}

/** Logs what the bench could not close. It closes the rest anyway. */
export const CLOSING = { info() {}, error: (fields: object, message: string) => console.error(message, fields) };

async function open(options: StackOptions, cleanup: Cleanup): Promise<Stack> {
    const postgres = await openPostgres(options.postgres, options);
    cleanup.add('PostgreSQL', () => postgres.stop());
    const redis = await openRedis();
    cleanup.add('Redis', () => redis.stop());
    const keep = (started: Started): Started => {
        cleanup.add(`process ${started.pid}`, () => started.stop());
        return started;
    };
    const portOf = async (started: Started) => Number((await started.line('port ')).slice('port '.length));
    const upstreamProcess = keep(startNode('bench/stack/upstream.ts'));
    const upstreamPort = await portOf(upstreamProcess);
    const bareHapiProcess = keep(startNode('bench/stack/bare-hapi.ts'));

    const dataDir = mkdtempSync(join(tmpdir(), 'routebook-bench-start-'));
    cleanup.add('data folder', () => rmSync(dataDir, { recursive: true, force: true }));
    const shared = { NODE_ENV: 'production', HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...egressSettings(upstreamPort) };
    const settings = {
        production: {
            ...shared,
            DATABASE_URL: await postgres.createDatabase('production'),
            REDIS_URL: redis.url,
            PORT: String(await freePort()),
        },
        embedded: { ...shared, DATABASE_URL: await postgres.createDatabase('embedded'), PORT: String(await freePort()), DATA_DIR: dataDir },
    };

    await runNode('bin/migrate.ts', [], settings.production);
    const running: { api: Started; workers: Started[] } = { api: startNode('bin/api.ts', [], settings.production), workers: [] };
    cleanup.add('API and workers', async () => {
        await Promise.all([running.api, ...running.workers].map((process) => process.stop()));
    });
    running.workers = [await startWorker(settings.production)];
    const all = keep(startNode('bin/start.ts', [], settings.embedded));
    const base = `http://127.0.0.1:${settings.production.PORT}`;
    const embeddedBase = `http://127.0.0.1:${settings.embedded.PORT}`;
    await Promise.all([untilReady(`${base}/v1/health`), untilReady(`${embeddedBase}/v1/health`)]);
    const [apiKey, embeddedKey] = await Promise.all([
        furnish(base, settings.production, upstreamPort),
        furnish(embeddedBase, settings.embedded, upstreamPort),
    ]);

    return {
        postgres,
        redis,
        upstream: `http://127.0.0.1:${upstreamPort}`,
        upstreamProcess,
        bareHapi: `http://127.0.0.1:${await portOf(bareHapiProcess)}`,
        bareHapiProcess,
        production: Object.assign(running, { base, apiKey }),
        embedded: { base: embeddedBase, apiKey: embeddedKey, all },
        settings,
        async replaceWorkers(count, more = {}) {
            await Promise.all(running.workers.map((worker) => worker.stop()));
            const starting = Array.from({ length: count }, () => startWorker({ ...settings.production, ...more }));
            running.workers = await Promise.all(starting);
        },
        async replaceApi(more = {}) {
            await running.api.stop();
            running.api = startNode('bin/api.ts', [], { ...settings.production, ...more });
            await untilReady(`${base}/readyz`);
        },
        close: () => cleanup.close(),
    };
}

/** Starts a worker and waits until it takes jobs: then its metrics show its slots. */
export async function startWorker(settings: Settings): Promise<Started> {
    const port = await freePort();
    const worker = startNode('bin/worker.ts', [], { ...settings, METRICS_PORT: String(port) });
    await untilReady(`http://127.0.0.1:${port}/metrics`, { shows: 'routebook_worker_slots{state="free"}' });
    return worker;
}

/** Creates an account without limits and publishes the bench's package in a running topology. Returns the key. */
export async function furnish(base: string, settings: Settings, upstreamPort: number): Promise<string> {
    const many = '1000000000';
    const limits = ['per-minute', 'per-hour', 'per-day', 'allowance', 'concurrency', 'credits'].flatMap((name) => [`--${name}`, many]);
    const account = await runNode(
        'bin/admin.ts',
        ['account', 'create', '--email', 'bench@bench.example', '--plan', 'pro', ...limits, '--json'],
        settings,
    );
    const { api_key: apiKey } = JSON.parse(account.trim().split('\n').at(-1) ?? '') as { api_key: string };
    const response = await fetch(`${base}/v1/schemas`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(benchPackage(upstreamPort)),
    });
    if (response.status !== 201) throw new Error(`publishing failed: ${response.status} ${await response.text()}`);
    // A site may use half of all slots. The bench has only one site and needs all of them.
    await runNode('bin/admin.ts', ['site', 'set', SITE, '--concurrency', '100000', '--json'], settings);
    return apiKey;
}

async function runNode(file: string, argv: string[], settings: Settings): Promise<string> {
    const { PATH = '', HOME = '' } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...argv], { cwd: ROOT, env: { PATH, HOME, ...settings } });
    return stdout;
}
