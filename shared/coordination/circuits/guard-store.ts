import type { CircuitVerdict } from '../../domain/fetch/circuit-verdict.ts';
import type { Db } from '../../platform/db.ts';
import { runPrepared } from '../../platform/prepared-query.ts';

/** Constants of docs/api.md, "Circuits". The functions in migrations/ know `FORGET_MS` too. */
const WINDOW_S = 30;
/** Fetches in the window before a circuit may open. */
const LEAST = 20;
/** How long a circuit stays open at first, and at most. */
const PERIOD_MS = 5000;
const LONGEST_MS = 60_000;
/** Retry-After for callers while another caller's probe runs. Its end is unknown. */
export const PROBE_PATIENCE_MS = 1000;
/** A circuit without a probe for this long counts as closed. */
export const FORGET_MS = 600_000;

/** Distance between requests that waited for the end of a pause, where no rate is set. */
const PAUSE_DISTANCE_MS = 100;
/** Two deaths further apart are unrelated. */
const REMEMBER_DEATH_MS = 600_000;
const QUARANTINE_MS = 3_600_000;

/** Counts of ended fetches of a host. */
export interface Tally {
    host: string;
    passed: number;
    failed: number;
}

/** The death of a worker during a job. */
export interface Death {
    versionId: number;
    endpoint: string;
    /** Minimum run time of the job, in milliseconds. A worker that died within it died at the same time. */
    ageMs: number;
    /** When the endpoint last succeeded, by the clock of stored times. */
    lastSuccessAt: Date | undefined;
}

/** An endpoint in quarantine. */
export interface Quarantined {
    versionId: number;
    endpoint: string;
    /** By the clock of stored times. */
    until: Date;
}

/** A circuit that is not closed, a host or domain whose next turn is later, or an endpoint in quarantine. Times in ms since the epoch. */
export interface GuardRow {
    kind: 'circuit' | 'turn' | 'quarantine';
    /** A host, a key of `takeTurn`, or `<version id>:<endpoint>`. */
    key: string;
    until: number;
    /** When the running probe of a circuit is given up; null without one. */
    probeUntil: number | null;
    /** The time of the store. */
    now: number;
}

export type GuardStore = ReturnType<typeof createGuardStore>;

/**
 * The circuits, turns and deaths that all processes share (migrations/1210_circuits.ts). The clock is `app_now()`.
 * Every method throws the error of its client.
 * @param timeoutMs longest time of a statement
 */
export function createGuardStore(db: Db, timeoutMs: number) {
    const ask = <Row>(name: string, text: string, values: unknown[]) => runPrepared<Row>(db, { name, text }, values, timeoutMs);
    const one = async <Row>(name: string, text: string, values: unknown[]): Promise<Row> => {
        const [row] = await ask<Row>(name, text, values);
        if (row === undefined) throw new Error(`${name}: no answer`);
        return row;
    };
    return {
        /** Everything that may hold up a call; few rows. */
        read: () => ask<GuardRow>('guards-read', READ, [FORGET_MS]),
        /** Adds outcomes, and returns the hosts whose circuit this opened. */
        async report(tallies: readonly Tally[]): Promise<string[]> {
            const columns = [tallies.map(({ host }) => host), tallies.map(({ passed }) => passed), tallies.map(({ failed }) => failed)];
            const text = 'select host from circuit_report($1, $2, $3, $4, $5, $6) as host';
            const rows = await ask<{ host: string }>('circuit-report', text, [...columns, WINDOW_S, LEAST, PERIOD_MS]);
            return rows.map(({ host }) => host);
        },
        /** @returns -1: the circuit is closed; 0: this operation is the probe; otherwise milliseconds to wait */
        async takeProbe(host: string, operation: string, lifeMs: number): Promise<number> {
            const text = 'select circuit_take_probe($1, $2, $3, $4) as wait';
            return (await one<{ wait: number }>('circuit-take-probe', text, [host, operation, lifeMs, PROBE_PATIENCE_MS])).wait;
        },
        /** `period_ms`: how long a reopened circuit stays open. */
        endProbe(host: string, operation: string, verdict: CircuitVerdict) {
            return one<{ change: 'closed' | 'reopened' | 'unchanged'; period_ms: number | null }>(
                'circuit-end-probe',
                'select change, period_ms from circuit_end_probe($1, $2, $3, $4)',
                [host, operation, verdict, LONGEST_MS],
            );
        },
        /**
         * Takes one turn that suits all keys.
         * @param keys with the distance between their turns in ms; null: only pauses apply
         */
        async takeTurn(keys: ReadonlyMap<string, number | null>, patienceMs: number): Promise<{ granted: boolean; waitMs: number }> {
            const { granted, wait_ms } = await one<{ granted: boolean; wait_ms: number }>(
                'site-turn',
                'select granted, wait_ms from site_turn($1, $2, $3, $4)',
                [[...keys.keys()], [...keys.values()], PAUSE_DISTANCE_MS, patienceMs],
            );
            return { granted, waitMs: wait_ms };
        },
        /** @returns false if this 429 belongs to a burst that already counted */
        async pause(host: string, pauseMs: number, ageMs: number): Promise<boolean> {
            return (await one<{ began: boolean }>('site-pause', 'select site_pause($1, $2, $3) as began', [host, pauseMs, ageMs])).began;
        },
        /** @returns whether this death quarantined the endpoint */
        async recordDeath({ versionId, endpoint, ageMs, lastSuccessAt }: Death): Promise<boolean> {
            const text = 'select worker_death($1, $2, $3, $4, $5, $6) as quarantined';
            const values = [versionId, endpoint, ageMs, lastSuccessAt ?? null, REMEMBER_DEATH_MS, QUARANTINE_MS];
            return (await one<{ quarantined: boolean }>('worker-death', text, values)).quarantined;
        },
        /** Endpoints in quarantine, those that end first, at most `most`. */
        async quarantined(most: number): Promise<Quarantined[]> {
            const text = `select version_id as "versionId", endpoint, quarantined_until as until from worker_deaths
                where quarantined_until > app_now() order by quarantined_until, version_id, endpoint limit $1`;
            return ask<Quarantined>('quarantined', text, [most]);
        },
        /** Deletes what is over. */
        async sweep(): Promise<void> {
            await ask('guards-sweep', 'select circuit_sweep()', []);
        },
    };
}

const READ = `
    with state as (
        select 'circuit' as kind, host as key, open_until as until, probe_until from circuits
            where open_until > app_now() - make_interval(secs => $1 / 1000.0)
        union all
        select 'turn', key, next_at, null from site_turns where next_at > app_now()
        union all
        select 'quarantine', version_id || ':' || endpoint, quarantined_until, null from worker_deaths where quarantined_until > app_now())
    select kind, key, extract(epoch from until)::float8 * 1000 as until, extract(epoch from probe_until)::float8 * 1000 as "probeUntil",
           extract(epoch from app_now())::float8 * 1000 as now
    from state`;
