import { type Circuits, openSiteGuards, type Quarantine, type Turns } from './coordination/circuits/circuits.ts';
import { type Fleet, openFleet } from './coordination/limits/fleet.ts';
import { type Limits, openLimits } from './coordination/limits/limits.ts';
import { openQueue, type Queue } from './coordination/queue/queue.ts';
import { type Clock, createClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import { type Db, type DbOptions, openDb } from './platform/db.ts';
import { createEmbedder, type Embedder } from './platform/embedder.ts';
import { type Cleanup, createCleanup } from './platform/lifecycle.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { isServerFault, refusesWrites } from './platform/pg-errors.ts';
import { shippedPhrases, shippedWordVectors } from './platform/phrases.ts';
import { openReplica, type Read } from './platform/replica.ts';
import { createSecrets, type Secrets } from './platform/secrets.ts';
import { NO_TRACING, type Tracing } from './platform/tracing.ts';
import { type Keys, openKeys } from './store/accounts/callers.ts';
import { type ConnectionUses, openConnectionUses } from './store/connections/uses.ts';
import { openVault, type Vault } from './store/connections/vault.ts';
import { type Credits, openCredits } from './store/credits/credits.ts';
import { createIdempotency, type Idempotency } from './store/fetch/idempotency.ts';
import { type LookUpSessions, openLookUpSessions } from './store/fetch/look-up-sessions.ts';
import { type Cursors, createCursors } from './store/registry/cursors.ts';
import { createFinder, type Finder } from './store/registry/find-endpoints.ts';
import { createUsedLists, type UsedLists } from './store/registry/list-endpoints.ts';
import { createLookUps, type LookUps } from './store/registry/look-ups.ts';
import { createNearSites, type NearSites } from './store/registry/near-sites.ts';
import { createLists, type Lists } from './store/registry/search.ts';
import { createLatest, type Latest } from './store/registry/site-states.ts';
import { createVersions, type Versions } from './store/registry/versions.ts';
import { openUsage, type Usage } from './store/usage/usage.ts';

/** All resources that a process has opened. Functions use the parts that they need. */
export interface App {
    readonly config: Config;
    readonly log: Log;
    readonly clock: Clock;
    readonly metrics: Metrics;
    readonly tracing: Tracing;
    readonly db: Db;
    /**
     * A pool of few connections for browse requests only. Their statements have a timeout. Under load, browse requests are rejected before
     * other requests have to wait.
     */
    readonly browse: Db;
    /** For reads that may be a second old: lists, search, find and trends. Uses the replica if there is one. */
    readonly read: Read;
    readonly queue: Queue;
    readonly limits: Limits;
    readonly fleet: Fleet;
    readonly circuits: Circuits;
    /** Decides when a request may be sent to a site. */
    readonly turns: Turns;
    /** Quarantined endpoints, which killed workers. */
    readonly quarantine: Quarantine;
    /** Keys for encryption and signatures. */
    readonly secrets: Secrets;
    readonly credits: Credits;
    readonly idempotency: Idempotency;
    readonly keys: Keys;
    /** Connections of callers, for calls. */
    readonly vault: Vault;
    readonly connectionUses: ConnectionUses;
    /** Authenticated list cursors. */
    readonly cursors: Cursors;
    /** The latest version of a site. It is read again for every call, in one query per tick. */
    readonly latest: Latest;
    /** Immutable versions. They are cached. */
    readonly versions: Versions;
    /** Searches sites by intent. */
    readonly lists: Lists;
    /** Finds sites with names similar to an unknown name. */
    readonly nearSites: NearSites;
    /** Finds endpoints by task. */
    readonly finder: Finder;
    /** Computes vectors of texts; undefined if EMBEDDINGS_URL is not set. */
    readonly embedder: Embedder | undefined;
    /** All endpoints, most used first. */
    readonly usedLists: UsedLists;
    /** Catalog reads for calls, one query per tick of the event loop. */
    readonly lookUps: LookUps;
    readonly usage: Usage;
    readonly lookUpSessions: LookUpSessions;
    /** The public URL of this service, without a trailing slash. */
    publicUrl(): string;
    /** Called once the port is known. */
    setPort(port: number): void;
    /** Whether the database refused a write within the last seconds, such as for a full disk. */
    refusesWrites(): boolean;
    isDraining(): boolean;
    /** Makes /readyz fail from now on, so that no new traffic arrives. */
    drain(): void;
    close(): Promise<void>;
}

interface AppOptions {
    /** `api` listens for replies of the queue. `worker` only sends them. */
    role: 'api' | 'worker';
    log: Log;
    clock?: Clock;
    metrics?: Metrics;
    /** The caller that opened it closes it, after the app. */
    tracing?: Tracing;
    /** Timeout for a connection of each pool, and for the statements of circuits, in milliseconds; see DbOptions. */
    acquireTimeoutMs?: number;
}

/** Maximum number of connections for browse requests, and the timeout of their statements, in milliseconds. */
const BROWSING = 6;
const BROWSE_MS = 2000;
/** A new connection plans every statement again, and each ranking of finds six times. Firewalls forget connections after 350 s or more. */
const BROWSE_IDLE_MS = 300_000;

/** How long a refused write shows in the health. Fetches try again, so it is over once one of them succeeds, or nobody tries. */
const REFUSED_MS = 5000;

/** Number of connections reserved for credits. Holds, charges and releases get a connection even if many readers wait. */
const MOVING_CREDITS = 6;

/**
 * Opens all parts over the database, and over Redis if it is configured. These may still be unreachable: each part connects on first use
 * and reconnects after an outage.
 */
export function openApp(
    config: Config & { databaseUrl: string },
    { role, log, clock = createClock(), metrics = createMetrics(config), tracing = NO_TRACING, acquireTimeoutMs }: AppOptions,
): App {
    const cleanup: Cleanup = createCleanup(log);
    const { databaseUrl, redisUrl, keyPrefix } = config;
    const ofQueue = { databaseUrl, redisUrl: config.redisQueueUrl ?? redisUrl, keyPrefix, log };
    const ofLimits = { databaseUrl, redisUrl: config.redisLimitsUrl ?? redisUrl, keyPrefix, log };
    let port = config.port;
    let draining = false;

    const closing = <Part extends { close(): Promise<void> }>(name: string, part: Part): Part => {
        cleanup.add(name, () => part.close());
        return part;
    };

    let refusedAt = Number.NEGATIVE_INFINITY;
    const onServerError = (code: string) => {
        if (isServerFault(code)) metrics.databaseFaults.inc({ code });
        if (refusesWrites(code)) refusedAt = performance.now();
    };
    const { db, browse, money, read } = openPools(config, { role, log, acquireTimeoutMs, onServerError }, cleanup);
    const secrets = createSecrets({ db, keys: config.secretKeys, log });
    const { circuits, turns, quarantine } = closing('circuits', openSiteGuards({ db, clock, log, timeoutMs: acquireTimeoutMs }));
    const versions = createVersions(db);
    const lists = createLists(read);

    const app: App = {
        config,
        log,
        clock,
        metrics,
        tracing,
        db,
        browse,
        read,
        limits: closing('limits', openLimits({ ...ofLimits, clock })),
        fleet: closing('fleet', openFleet(ofLimits)),
        circuits,
        turns,
        quarantine,
        secrets,
        credits: closing('credits', openCredits(money, { reads: db, log })),
        idempotency: closing('idempotency', createIdempotency(db, secrets)),
        keys: closing('keys', openKeys(db, { log })),
        vault: openVault(db, secrets),
        connectionUses: closing('uses of connections', openConnectionUses(db, { log })),
        cursors: createCursors(db),
        latest: createLatest(db),
        versions,
        lists,
        nearSites: createNearSites(read, lists),
        finder: createFinder(read, shippedPhrases, shippedWordVectors),
        embedder: config.embeddings && createEmbedder(config.embeddings),
        usedLists: createUsedLists(read),
        lookUps: createLookUps(db, versions),
        usage: closing('usage', openUsage(db, { log })),
        lookUpSessions: closing('look-up sessions', openLookUpSessions(db, { log })),
        // Opened last, so it is closed first: its jobs use the other parts.
        queue: closing('queue', openQueue({ ...ofQueue, secrets, role })),
        publicUrl: () => config.publicUrl ?? `http://localhost:${port}`,
        setPort: (actual) => {
            port = actual;
        },
        refusesWrites: () => performance.now() - refusedAt < REFUSED_MS,
        isDraining: () => draining,
        drain: () => {
            draining = true;
        },
        close: () => cleanup.close(),
    };
    Object.assign(metrics.clockAhead, { collect: () => metrics.clockAhead.set(app.queue.clockAheadMs() / 1000) });
    return app;
}

/** Opens the pools of the database. The replica, if there is one, is only for an API. */
function openPools(
    { databaseUrl, databaseReplicaUrl }: Config & { databaseUrl: string },
    {
        role,
        log,
        acquireTimeoutMs,
        onServerError,
    }: Pick<AppOptions, 'role' | 'log'> & Pick<DbOptions, 'acquireTimeoutMs' | 'onServerError'>,
    cleanup: Cleanup,
): { db: Db; browse: Db; money: Db; read: Read } {
    const browsing = { poolSize: BROWSING, statementTimeoutMs: BROWSE_MS, idleMs: BROWSE_IDLE_MS };
    const open = (part: string, name: string, options: Partial<DbOptions> = {}) => {
        const onError = (error: Error) => log.warn({ part, err: error }, 'a database connection was lost');
        const pool = openDb({ url: databaseUrl, name, acquireTimeoutMs, onError, onServerError, ...options });
        cleanup.add(name, () => pool.destroy());
        return pool;
    };
    const db = open('postgres', `routebook-${role}`);
    const browse = open('postgres', `routebook-${role}-browse`, browsing);
    const money = open('credits', `routebook-${role}-credits`, { poolSize: MOVING_CREDITS });
    if (databaseReplicaUrl === undefined || role !== 'api') return { db, browse, money, read: (question) => question(browse) };
    const replica = openReplica({
        url: databaseReplicaUrl,
        primaryUrl: databaseUrl,
        primary: browse,
        name: `routebook-${role}-replica`,
        ...browsing,
        log,
    });
    cleanup.add('replica', () => replica.close());
    return { db, browse, money, read: replica.read };
}
