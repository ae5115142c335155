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

/** The topologies that this run can test: PostgreSQL alone always, Redis where there is one. */
export const TOPOLOGIES: readonly Topology[] = testRedisUrl() === undefined ? ['postgres'] : ['postgres', 'redis'];

/** The topologies for what is the same in each: the last of them in `npm test`, all in a long run. */
export const ANY_TOPOLOGY: readonly Topology[] = isWhole ? TOPOLOGIES : TOPOLOGIES.slice(-1);

export interface WorldOptions {
    topology?: Topology;
    /** How many workers run in this process. */
    workers?: number;
    config?: Partial<Config>;
    /** Stands in DATABASE_URL; the server of the tests asks for none. */
    databasePassword?: string;
    /** Each worker verifies what was published, as it does in production; without it publishing calls nobody. */
    verifier?: VerifierOptions;
    /** Only the proofs that the guard's tests can fail pass one. */
    connector?: EgressConnector;
    /** How often workers look for claims that are due, where that is not every half second. */
    claimLookMs?: number;
    /** How long a query waits for a connection, in milliseconds. A busy machine opens one late: what production waits is for its own tests. */
    acquireTimeoutMs?: number;
}

/** A whole Routebook of one test's own: a cloned database, keys under a prefix of its own, API and workers in this process. */
export interface World {
    readonly app: App;
    readonly base: string;
    readonly workers: OpenWorker[];
    readonly databaseUrl: string;
    /** Lines that the processes logged, as JSON values. */
    readonly logged: Record<string, unknown>[];
    clock: {
        /** Moves every stored time and every window on. */
        advance(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): Promise<void>;
    };
    /** Another API process over the same stores. */
    openAnotherApi(): Promise<{ app: App; base: string }>;
    /** Fails the test where money or jobs were left behind, then closes and removes everything. */
    close(): Promise<void>;
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
                // Few tests need the process: the others do not wait for it.
                isWarm: false,
                ...(connector === undefined ? {} : { connector }),
                ...(claimLookMs === undefined ? {} : { lookMs: claimLookMs }),
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
        // All callers of a test come from one address.
        clientConnections: 0,
        clientConnectionsPerSecond: 0,
        cheapPerSecond: 1_000_000,
        egressAllow: loopback.entries,
        // Nobody listens there: no test asks the name servers of this machine.
        claimResolvers: ['127.0.0.1:9'],
        ...overrides,
        databaseUrl,
    };
}
