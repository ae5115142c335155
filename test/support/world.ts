import { startApi } from '../../api/start-api.ts';
import { type App, openApp } from '../../shared/app.ts';
import { parseEgressAllow } from '../../shared/domain/site/egress-allow.ts';
import { type Clock, createClock } from '../../shared/platform/clock.ts';
import { type Config, readConfig } from '../../shared/platform/config.ts';
import { createLog } from '../../shared/platform/log.ts';
import { openTracing } from '../../shared/platform/tracing/open.ts';
import * as ledger from '../../shared/store/credits/ledger.ts';
import type { EgressConnector } from '../../workers/egress.ts';
import { startVerifier, type VerifierOptions } from '../../workers/verify.ts';
import { type OpenWorker, openWorker } from '../../workers/worker.ts';
import { advanceClock } from './clock.ts';
import { createTestDatabase } from './postgres.ts';
import { testRedisUrl, uniquePrefix } from './redis.ts';
import { isWhole } from './sample.ts';
import { TEST_SECRET_KEYS } from './secrets.ts';

export type Topology = 'redis' | 'postgres';

/** The topologies that this run can test: PostgreSQL alone always, Redis if there is one. */
export const TOPOLOGIES: readonly Topology[] = testRedisUrl() === undefined ? ['postgres'] : ['postgres', 'redis'];

/** The topologies for tests that do not depend on the topology: the last one in `npm test`, all in a long run. */
export const ANY_TOPOLOGY: readonly Topology[] = isWhole ? TOPOLOGIES : TOPOLOGIES.slice(-1);

export interface WorldOptions {
    topology?: Topology;
    /** The number of workers in this process. */
    workers?: number;
    config?: Partial<Config>;
    /** The password in DATABASE_URL. The test server does not check it. */
    databasePassword?: string;
    /** Makes each worker verify published packages, as in production. Without it, publishing calls no site. */
    verifier?: VerifierOptions;
    /** Only tests that prove that the guard's tests can fail set this. */
    connector?: EgressConnector;
    /** The interval in which workers look for due claims; every half second by default. */
    claimLookMs?: number;
    /**
     * Milliseconds that a query waits for a connection. The tests allow more than production, since a busy machine opens connections
     * slowly.
     */
    acquireTimeoutMs?: number;
}

/** A complete installation for one test: a cloned database, a separate key prefix, and API and workers in this process. */
export interface World {
    readonly app: App;
    readonly base: string;
    readonly workers: OpenWorker[];
    readonly databaseUrl: string;
    /** The log lines of its processes, as JSON values. */
    readonly logged: Record<string, unknown>[];
    clock: {
        /** Advances every stored time and every rate limit. */
        advance(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): Promise<void>;
    };
    /** Opens another API on the same stores. */
    openAnotherApi(): Promise<{ app: App; base: string }>;
    /** Closes and removes everything. Fails the test if a ledger does not sum or credits are still held. */
    close(): Promise<void>;
}

/** Opens a world before the tests of a suite and closes it after them. It is empty until then. */
export function useWorld(options: WorldOptions = {}): World {
    const world = {} as World;
    before(async () => {
        Object.assign(world, await openWorld(options));
    });
    after(() => world.close());
    return world;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
    const {
        topology = TOPOLOGIES[0] ?? 'postgres',
        workers: workerCount = 1,
        verifier,
        connector,
        claimLookMs,
        databasePassword = '',
        acquireTimeoutMs = 10_000,
    } = options;
    const database = await createTestDatabase();
    const databaseUrl = new URL(database.url);
    if (databasePassword !== '') databaseUrl.password = databasePassword;
    const config = testConfig(databaseUrl.href, topology, options.config ?? {});
    const logged: Record<string, unknown>[] = [];
    const log = createLog(config.logLevel, { write: (line: string) => void logged.push(JSON.parse(line)) });
    const clock: Clock = createClock();
    const apps: { app: App; api?: { stop(): Promise<void> } }[] = [];
    const workers: OpenWorker[] = [];
    const verifiers: { stop(): Promise<void> }[] = [];

    async function openApi() {
        const tracing = await openTracing(config, { service: 'routebook-api', log });
        const app = openApp(config, { role: 'api', log, clock, tracing, acquireTimeoutMs });
        const api = await startApi(app);
        apps.push({ app, api });
        return { app, base: `http://127.0.0.1:${api.port}` };
    }

    const { app, base } = await openApi();
    for (let index = 0; index < workerCount; index++) {
        const tracing = await openTracing(config, { service: 'routebook-worker', log });
        const workerApp = openApp(config, { role: 'worker', log, clock, metrics: app.metrics, tracing, acquireTimeoutMs });
        workerApp.setPort(Number(new URL(base).port));
        apps.push({ app: workerApp });
        workers.push(
            await openWorker(workerApp, {
                // Few tests need the thread process, so the others do not wait for it.
                isWarm: false,
                ...(connector === undefined ? {} : { connector }),
                ...(claimLookMs === undefined ? {} : { pollMs: claimLookMs }),
            }),
        );
        if (verifier !== undefined) verifiers.push(startVerifier(workerApp, verifier));
    }

    return {
        app,
        base,
        workers,
        databaseUrl: database.url,
        logged,
        clock: {
            async advance({ days = 0, hours = 0, minutes = 0, seconds = 0 }) {
                const ms = ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000;
                clock.offsetMs += ms;
                await advanceClock(app.db, ms);
            },
        },
        openAnotherApi: openApi,
        async close() {
            for (const one of verifiers) await one.stop();
            for (const worker of workers) await worker.close();
            for (const { api } of apps) await api?.stop();
            const drift = await ledger.checkLedger(app.db);
            const held = await ledger.totalHeld(app.db);
            for (const opened of apps.toReversed()) {
                await opened.app.close();
                await opened.app.tracing.close();
            }
            await database.drop();
            if (drift.length > 0) throw new Error(`ledgers do not sum: ${JSON.stringify(drift)}`);
            if (held > 0) throw new Error(`${held} credits are still held after the test`);
        },
    };
}

function testConfig(databaseUrl: string, topology: Topology, overrides: Partial<Config>): Config & { databaseUrl: string } {
    const loopback = parseEgressAllow('127.0.0.0/8,[::1]/128');
    if (!loopback.ok) throw new Error(loopback.problem);
    return {
        ...readConfig({ DATABASE_URL: databaseUrl, PORT: '0', HOST: '127.0.0.1', WORKER_CONCURRENCY: '64', SECRET_KEYS: TEST_SECRET_KEYS }),
        redisUrl: topology === 'redis' ? testRedisUrl() : undefined,
        keyPrefix: uniquePrefix(),
        passwordCost: 6,
        // All callers of a test have the same address, so the limits of one address are off.
        clientConnections: 0,
        clientConnectionsPerSecond: 0,
        cheapPerSecond: 1_000_000,
        egressAllow: loopback.entries,
        // Nobody listens there, so no test uses the DNS servers of this machine.
        claimResolvers: ['127.0.0.1:9'],
        ...overrides,
        databaseUrl,
    };
}
