import { type Circuits, openSiteGuards, type Quarantine, type Turns } from './coordination/circuits/circuits.ts';
import { type Fleet, openFleet } from './coordination/limits/fleet.ts';
import { type Limits, openLimits } from './coordination/limits/limits.ts';
import { openQueue, type Queue } from './coordination/queue/queue.ts';
import { type Clock, createClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import { type Db, openDb } from './platform/db.ts';
import { createEmbedder, type Embedder } from './platform/embedder.ts';
import { type Cleanup, createCleanup } from './platform/lifecycle.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { shippedPhrases } from './platform/phrases.ts';
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
import { createLatest, createVersions, type Latest, type Versions } from './store/registry/schemas.ts';
import { createLists, type Lists } from './store/registry/search.ts';
import { openUsage, type Usage } from './store/usage/usage.ts';

/** Everything a process has opened; stories take from it what they need. */
export interface App {
    readonly config: Config;
    readonly log: Log;
    readonly clock: Clock;
    readonly metrics: Metrics;
    readonly tracing: Tracing;
    readonly db: Db;
    /** A few connections for browsing alone, whose statements are bounded in time: it is shed before anything else waits. */
    readonly browse: Db;
    /** Reads what may be a second old, from the replica where there is one: lists, search, find and trends. */
    readonly read: Read;
    readonly queue: Queue;
    readonly limits: Limits;
    readonly fleet: Fleet;
    readonly circuits: Circuits;
    /** Whose turn it is to send something to a site. */
    readonly turns: Turns;
    /** Endpoints that killed workers. */
    readonly quarantine: Quarantine;
    /** Keys for encryption and signatures. */
    readonly secrets: Secrets;
    readonly credits: Credits;
    /** Idempotency keys and the answers kept under them. */
    readonly idempotency: Idempotency;
    readonly keys: Keys;
    /** Connections for calls. */
    readonly vault: Vault;
    readonly connectionUses: ConnectionUses;
    /** Places in lists, sealed for callers. */
    readonly cursors: Cursors;
    /** The latest version of a site, read again for every call, in one query a tick. */
    readonly latest: Latest;
    /** Immutable versions, cached. */
    readonly versions: Versions;
    /** Sites by what callers look for. */
    readonly lists: Lists;
    /** Sites that one which was not found may have been meant to be. */
    readonly nearSites: NearSites;
    /** Endpoints by task. */
    readonly finder: Finder;
    /** Makes vectors of texts; undefined where EMBEDDINGS_URL is not set. */
    readonly embedder: Embedder | undefined;
    /** All endpoints, the most used first. */
    readonly usedLists: UsedLists;
    /** Catalog reads for calls, one query per tick of the event loop. */
    readonly lookUps: LookUps;
    readonly usage: Usage;
    readonly lookUpSessions: LookUpSessions;
    /** Where people reach this service; without a trailing slash. */
    publicUrl(): string;
    /** Told once the port is known. */
    setPort(port: number): void;
    isDraining(): boolean;
    /** From now on /readyz says no, so that no new traffic comes. */
    drain(): void;
    /** Undoes the opening in reverse. */
    close(): Promise<void>;
}

interface AppOptions {
    /** `api` listens for replies of the queue; `worker` only sends them. */
    role: 'api' | 'worker';
    log: Log;
    clock?: Clock;
    metrics?: Metrics;
    /** Closed by its opener, after the app. */
    tracing?: Tracing;
    /** For each pool, and for statements of circuits; see DbOptions. */
    acquireTimeoutMs?: number;
}

/** Connections that browsing may take, and how long one of its statements may run, in milliseconds. */
const BROWSING = 6;
const BROWSE_MS = 2000;

/** Connections for money alone: however many wait for one to read something, holds, charges and releases find theirs. */
const MOVING_CREDITS = 6;

/**
 * Opens all parts over the database (and Redis where it is set). Nothing has to be up yet: each part connects when it is
 * first used, and again after an outage.
 */
export function openApp(
    config: Config & { databaseUrl: string },
    { role, log, clock = createClock(), metrics, tracing = NO_TRACING, acquireTimeoutMs }: AppOptions,
): App {
    const cleanup: Cleanup = createCleanup(log);
    const { databaseUrl, redisUrl, keyPrefix } = config;
    const ofQueue = { databaseUrl, redisUrl: config.redisQueueUrl ?? redisUrl, keyPrefix, log };
    const ofLimits = { databaseUrl, redisUrl: config.redisLimitsUrl ?? redisUrl, keyPrefix, log };
    let port = config.port;
    let draining = false;

    const db = openDb({
        url: databaseUrl,
        name: `routebook-${role}`,
        acquireTimeoutMs,
        onError: (error) => log.warn({ part: 'postgres', err: error }, 'a database connection was lost'),
    });
    cleanup.add('postgres', () => db.destroy());
    const browse = openDb({
        url: databaseUrl,
        name: `routebook-${role}-browse`,
        acquireTimeoutMs,
        poolSize: BROWSING,
        statementTimeoutMs: BROWSE_MS,
        onError: (error) => log.warn({ part: 'postgres', err: error }, 'a database connection was lost'),
    });
    cleanup.add('browsing', () => browse.destroy());
    const secrets = createSecrets({ db, keys: config.secretKeys, log });
    const limits = openLimits({ ...ofLimits, clock });
    cleanup.add('limits', () => limits.close());
    const fleet = openFleet(ofLimits);
    cleanup.add('fleet', () => fleet.close());
    const { circuits, turns, quarantine, close: closeGuards } = openSiteGuards({ db, clock, log, timeoutMs: acquireTimeoutMs });
    cleanup.add('circuits', closeGuards);
    const money = openDb({
        url: databaseUrl,
        name: `routebook-${role}-credits`,
        acquireTimeoutMs,
        poolSize: MOVING_CREDITS,
        onError: (error) => log.warn({ part: 'credits', err: error }, 'a database connection was lost'),
    });
    cleanup.add('money', () => money.destroy());
    const credits = openCredits(money, { reads: db });
    cleanup.add('credits', () => credits.close());
    const idempotency = createIdempotency(db, secrets);
    cleanup.add('idempotency', () => idempotency.close());
    const keys = openKeys(db, {
        onError: (error) => log.warn({ part: 'keys', err: error }, 'when keys were last used could not be written'),
    });
    cleanup.add('keys', () => keys.close());
    const usage = openUsage(db, { log });
    cleanup.add('usage', () => usage.close());
    const connectionUses = openConnectionUses(db, {
        onError: (error) => log.warn({ part: 'connections', err: error }, 'uses of connections could not be written'),
    });
    cleanup.add('uses of connections', () => connectionUses.close());
    const lookUpSessions = openLookUpSessions(db, { log });
    cleanup.add('look-up sessions', () => lookUpSessions.close());
    const versions = createVersions(db);
    let read: Read = (question) => question(browse);
    if (config.databaseReplicaUrl !== undefined && role === 'api') {
        const replica = openReplica({
            url: config.databaseReplicaUrl,
            primaryUrl: databaseUrl,
            primary: browse,
            name: `routebook-${role}-replica`,
            poolSize: BROWSING,
            statementTimeoutMs: BROWSE_MS,
            log,
        });
        cleanup.add('replica', () => replica.close());
        read = replica.read;
    }
    const lists = createLists(read);
    const queue = openQueue({ ...ofQueue, secrets, role });
    cleanup.add('queue', () => queue.close());

    return {
        config,
        log,
        clock,
        metrics: metrics ?? createMetrics(config),
        tracing,
        db,
        browse,
        read,
        queue,
        limits,
        fleet,
        circuits,
        turns,
        quarantine,
        secrets,
        credits,
        idempotency,
        keys,
        vault: openVault(db, secrets),
        connectionUses,
        cursors: createCursors(db),
        latest: createLatest(db),
        versions,
        lists,
        nearSites: createNearSites(read, lists),
        finder: createFinder(read, shippedPhrases),
        embedder: config.embeddings && createEmbedder(config.embeddings),
        usedLists: createUsedLists(read),
        lookUps: createLookUps(db, versions),
        usage,
        lookUpSessions,
        publicUrl: () => config.publicUrl ?? `http://localhost:${port}`,
        setPort: (actual) => {
            port = actual;
        },
        isDraining: () => draining,
        drain: () => {
            draining = true;
        },
        close: () => cleanup.close(),
    };
}
