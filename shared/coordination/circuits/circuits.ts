import type { Clock } from '../../platform/clock.ts';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';
import { openPostgresCircuits } from './postgres-store.ts';
import { openRedisCircuits } from './redis-store.ts';
import { createReports } from './reports.ts';
import type { CircuitStore, CircuitVerdict, Death, Quarantined } from './store.ts';

export type { CircuitVerdict, Death } from './store.ts';

/**
 * The circuits of all sites, by registrable domain (docs/api.md, "Circuits"). `Limits.take` reads whether a circuit is open in
 * the step that counts a call, so no fetch passes after it opened. This interface handles probes and outcomes.
 */
export interface Circuits {
    /**
     * Requests the probe of an open circuit, which one fetch gets. When the store is unreachable, circuits count as closed.
     * @param lifeMs after this time the probe is free again without a report
     */
    takeProbe(site: string, operation: string, lifeMs: number): Promise<Admission>;
    /** Records the end of a fetch. Never waits and never fails. @param probe the operation, if it was the probe */
    ended(site: string, verdict: CircuitVerdict, probe?: string): void;
    /** Registrable domains whose circuit is not closed. @throws when the store cannot be reached */
    open(): Promise<string[]>;
    /** Resolves when all outcomes so far are in the store. */
    flush(): Promise<void>;
}

export type Admission = { ok: true; isProbe: boolean } | { ok: false; waitMs: number };

/** Spaces requests to a site: by the rate that an operator set, and by pauses after a 429 of the site. */
export interface Turns {
    /**
     * Takes the next free turn, if it comes within `patienceMs`. @throws when the store is unreachable
     * @param rate requests a second; undefined: only pauses apply
     */
    take(site: string, rate: number | undefined, patienceMs: number): Promise<{ granted: boolean; waitMs: number }>;
    /** Pauses requests to the site, once for a burst of 429s. @param ageMs milliseconds since the request was sent */
    pause(site: string, pauseMs: number, ageMs: number): Promise<boolean>;
}

/** Blocks endpoints that killed two workers for an hour. A new version starts without deaths. */
export interface Quarantine {
    /** @returns whether this death quarantined the endpoint @throws when the store is unreachable */
    recordDeath(death: Death): Promise<boolean>;
    /** Quarantined endpoints, those that end first, at most `most`. @throws when the store is unreachable */
    list(most: number): Promise<Quarantined[]>;
}

export interface SiteGuards {
    circuits: Circuits;
    turns: Turns;
    quarantine: Quarantine;
    /** Stores the last reports and closes the connection. */
    close(): Promise<void>;
}

export interface CircuitOptions {
    databaseUrl: string;
    /** Absent: the state is in PostgreSQL. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    clock: Pick<Clock, 'offsetMs'>;
    log: ConnectionLog;
}

/** Opens the shared state of circuits, turns and quarantines, over Redis or PostgreSQL. The store may be down. */
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

function openCircuits(store: CircuitStore, log: ConnectionLog): Circuits {
    const status = watchConnection(log, 'reports to circuits');
    /** Probe outcomes that are on their way to the store. */
    const ending = new Set<Promise<void>>();
    const told = async <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> => {
        try {
            const value = await answer;
            status.up();
            return value;
        } catch (error) {
            status.down(error);
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
