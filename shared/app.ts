import { type Circuits, openSiteGuards, type Quarantine, type Turns } from './circuit.ts';
import { type Clock, openClock } from './clock.ts';
import type { Config } from './config.ts';
import { type Db, openDb } from './db.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { type Cleanup, createCleanup } from './lifecycle.ts';
import { type Limits, openLimits } from './limits.ts';
import type { Log } from './log.ts';
import { type Metrics, openMetrics } from './metrics.ts';
import { openPrecedents, type Precedents } from './precedents.ts';
import { openQueue, type Queue } from './queue.ts';
import { openSecrets, type Secrets } from './secrets.ts';
import { type Credits, openCredits } from './store/credits.ts';
import { type Cursors, openCursors } from './store/cursors.ts';
import { type Idempotency, openIdempotency } from './store/idempotency.ts';
import { type Keys, openKeys } from './store/keys.ts';
import { type LookUps, openLookUps } from './store/look-ups.ts';
import { type Latest, openLatest, openVersions, type Versions } from './store/schemas.ts';
import { type Lists, openLists } from './store/search.ts';
import { openSessions, type Sessions } from './store/sessions.ts';
import { openUsage, type Usage } from './store/usage.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

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
    readonly queue: Queue;
    readonly limits: Limits;
    readonly fleet: Fleet;
    readonly circuits: Circuits;
    /** Whose turn it is to send something to a site. */
    readonly turns: Turns;
    /** Endpoints that killed workers. */
    readonly quarantine: Quarantine;
    /** What this installation encrypts and signs with. */
    readonly secrets: Secrets;
    readonly credits: Credits;
    /** Calls that went through a moment ago. */
    readonly precedents: Precedents;
    /** Idempotency keys and the answers kept under them. */
    readonly idempotency: Idempotency;
    readonly keys: Keys;
    /** Places in lists, sealed for callers. */
    readonly cursors: Cursors;
    /** The latest version of a site, read anew for every call, in one query a tick. */
    readonly latest: Latest;
    /** Immutable versions, cached. */
    readonly versions: Versions;
    /** Sites by what callers look for. */
    readonly lists: Lists;
    /** What the catalog knows of a site, read anew for every call, in one query a tick. */
    readonly lookUps: LookUps;
    readonly usage: Usage;
    readonly sessions: Sessions;
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

export interface AppOptions {
    /** `api` listens for replies of the queue; `worker` only sends them. */
    role: 'api' | 'worker';
    log: Log;
    clock?: Clock;
    metrics?: Metrics;
    /** Closed by whoever opened it, after the app. */
    tracing?: Tracing;
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
    { role, log, clock = openClock(), metrics, tracing = NO_TRACING }: AppOptions,
): App {
    const cleanup: Cleanup = createCleanup(log);
    const { databaseUrl, redisUrl, keyPrefix } = config;
    let port = config.port;
    let draining = false;

    const db = openDb({
        url: databaseUrl,
        name: `routebook-${role}`,
        onError: (error) => log.warn({ part: 'postgres', err: error }, 'a database connection was lost'),
    });
    cleanup.add('postgres', () => db.destroy());
    const browse = openDb({
        url: databaseUrl,
        name: `routebook-${role}-browse`,
        poolSize: BROWSING,
        statementTimeoutMs: BROWSE_MS,
        onError: (error) => log.warn({ part: 'postgres', err: error }, 'a database connection was lost'),
    });
    cleanup.add('browsing', () => browse.destroy());
    const secrets = openSecrets({ db, keys: config.secretKeys, log });
    const limits = openLimits({ databaseUrl, redisUrl, keyPrefix, clock, log });
    cleanup.add('limits', () => limits.close());
    const fleet = openFleet({ databaseUrl, redisUrl, keyPrefix, log });
    cleanup.add('fleet', () => fleet.close());
    const { circuits, turns, quarantine, close: closeGuards } = openSiteGuards({ databaseUrl, redisUrl, keyPrefix, clock, log });
    cleanup.add('circuits', closeGuards);
    const money = openDb({
        url: databaseUrl,
        name: `routebook-${role}-credits`,
        poolSize: MOVING_CREDITS,
        onError: (error) => log.warn({ part: 'credits', err: error }, 'a database connection was lost'),
    });
    cleanup.add('money', () => money.destroy());
    const credits = openCredits(money);
    cleanup.add('credits', () => credits.close());
    const idempotency = openIdempotency(db, secrets);
    cleanup.add('idempotency', () => idempotency.close());
    const keys = openKeys(db, {
        onError: (error) => log.warn({ part: 'keys', err: error }, 'when keys were last used could not be written'),
    });
    cleanup.add('keys', () => keys.close());
    const usage = openUsage(db, { log });
    cleanup.add('usage', () => usage.close());
    const sessions = openSessions(db, { log });
    cleanup.add('sessions', () => sessions.close());
    const versions = openVersions(db);
    const queue = openQueue({ databaseUrl, redisUrl, keyPrefix, secrets, log, role });
    cleanup.add('queue', () => queue.close());

    return {
        config,
        log,
        clock,
        metrics: metrics ?? openMetrics(config),
        tracing,
        db,
        browse,
        queue,
        limits,
        fleet,
        circuits,
        turns,
        quarantine,
        secrets,
        credits,
        precedents: openPrecedents(),
        idempotency,
        keys,
        cursors: openCursors(db),
        latest: openLatest(db),
        versions,
        lists: openLists(browse),
        lookUps: openLookUps(db, versions),
        usage,
        sessions,
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
