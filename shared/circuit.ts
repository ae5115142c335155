import { openPostgresCircuits } from './circuit/postgres-store.ts';
import { openRedisCircuits } from './circuit/redis-store.ts';
import { createReports } from './circuit/reports.ts';
import type { CircuitStore, CircuitVerdict, Death, Quarantined } from './circuit/store.ts';
import type { Clock } from './clock.ts';
import { type OutageLog, watchOutage } from './outage.ts';

export type { CircuitVerdict, Death } from './circuit/store.ts';

/**
 * The circuits of all sites, by registrable domain (CONTRACT section 4, "Circuit"). Whether one is open is read with the step that
 * counts a call (`Limits.take`), so that not one fetch slips through after it opened; here is what happens around that.
 */
export interface Circuits {
    /**
     * Asks to be the one fetch that is let through. Where the store cannot be reached circuits count as closed.
     * @param lifeMs until its slot is free again although it never reported
     */
    takeProbe(site: string, operation: string, lifeMs: number): Promise<Admission>;
    /** A fetch of this site ended. Never waits and never fails. @param probe its operation, where it was the probe */
    ended(site: string, verdict: CircuitVerdict, probe?: string): void;
    /** Registrable domains whose circuit is not closed. @throws when the store cannot be reached */
    open(): Promise<string[]>;
    /** Resolves when everything that ended so far was told to the other processes. */
    flush(): Promise<void>;
}

export type Admission = { ok: true; isProbe: boolean } | { ok: false; waitMs: number };

/** Whose turn it is to send a request to a site: the pace that an operator set, and pauses after a site's own 429. */
export interface Turns {
    /**
     * Takes the next free turn, if it comes within `patienceMs`. @throws when the store cannot be reached
     * @param rate requests a second; undefined: only pauses count
     */
    take(site: string, rate: number | undefined, patienceMs: number): Promise<{ granted: boolean; waitMs: number }>;
    /** Holds requests to the site back, once for a burst of answers. @param ageMs since the request that was answered was sent */
    pause(site: string, pauseMs: number, ageMs: number): Promise<boolean>;
}

/** Endpoints that killed two workers are not called for an hour; a new version has a clean slate. */
export interface Quarantine {
    /** Whether this death was the second one. @throws when the store cannot be reached */
    recordDeath(death: Death): Promise<boolean>;
    /** Those that end first, at most so many. @throws when the store cannot be reached */
    list(most: number): Promise<Quarantined[]>;
}

export interface SiteGuards {
    circuits: Circuits;
    turns: Turns;
    quarantine: Quarantine;
    /** Tells the last reports and closes the connection. */
    close(): Promise<void>;
}

export interface CircuitOptions {
    databaseUrl: string;
    /** Absent: everything lives in PostgreSQL. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    clock: Pick<Clock, 'offsetMs'>;
    log: OutageLog;
}

/** Opens what all processes know of how the sites are doing, over Redis or PostgreSQL; nothing has to be up yet. */
export function openSiteGuards(options: CircuitOptions): SiteGuards {
    const store = openStore(options);
    const circuits = openCircuits(store, options.log);
    return {
        circuits,
        turns: {
            take: (site, rate, patienceMs) => store.takeTurn(site, rate === undefined ? null : 1000 / rate, patienceMs),
            pause: (site, pauseMs, ageMs) => store.pause(site, pauseMs, ageMs),
        },
        quarantine: { recordDeath: (death) => store.recordDeath(death), list: (most) => store.quarantined(most) },
        async close() {
            await circuits.flush();
            await store.close();
        },
    };
}

function openCircuits(store: CircuitStore, log: OutageLog): Circuits {
    const outage = watchOutage(log, 'reports to circuits');
    /** Outcomes of probes that are on their way to the store. */
    const ending = new Set<Promise<void>>();
    const told = async <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> => {
        try {
            const value = await answer;
            outage.up();
            return value;
        } catch (error) {
            outage.down(error);
            return undefined;
        }
    };
    const reports = createReports(async (tallies) => {
        for (const site of (await told(store.report(tallies))) ?? []) log.warn({ part: 'circuit', site }, 'the circuit of a site opened');
    });
    const endProbe = async (site: string, operation: string, verdict: CircuitVerdict) => {
        const ended = await told(store.endProbe(site, operation, verdict));
        if (ended?.change === 'closed') log.info({ part: 'circuit', site }, 'the circuit of a site closed');
        if (ended?.change === 'reopened') {
            log.warn({ part: 'circuit', site, period_ms: ended.periodMs }, 'a probe failed; the circuit of the site stays open');
        }
    };
    return {
        async takeProbe(site, operation, lifeMs) {
            const wait = (await told(store.takeProbe(site, operation, lifeMs))) ?? -1;
            return wait > 0 ? { ok: false, waitMs: wait } : { ok: true, isProbe: wait === 0 };
        },
        ended(site, verdict, probe) {
            if (probe === undefined) {
                if (verdict !== 'none') reports.ended(site, verdict);
                return;
            }
            const end = endProbe(site, probe, verdict).finally(() => ending.delete(end));
            ending.add(end);
        },
        open: () => store.open(),
        async flush() {
            await Promise.all([reports.flush(), ...ending]);
        },
    };
}

function openStore(options: CircuitOptions): CircuitStore {
    const { redisUrl } = options;
    return redisUrl === undefined ? openPostgresCircuits(options) : openRedisCircuits({ ...options, redisUrl });
}
