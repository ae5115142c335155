import type { CircuitVerdict } from '../../domain/fetch/circuit-verdict.ts';
import type { Db } from '../../platform/db.ts';
import { runPrepared } from '../../platform/prepared-query.ts';

/** Constants of docs/api.md, "Circuits". The SQL functions in migrations/ also contain `FORGET_MS`. */
const WINDOW_S = 30;
/** Minimum number of fetches in the window before a circuit may open. */
const MIN = 20;
/** How long a circuit stays open the first time, and the maximum. */
const PERIOD_MS = 5000;
const MAX_MS = 60_000;
/** Retry-After while the probe of another caller runs. Nobody knows when that probe ends. */
export const PROBE_PATIENCE_MS = 1000;
/** A circuit without a probe for this long counts as closed. */
export const FORGET_MS = 600_000;

/** Spacing of requests that waited for the end of a pause, where no rate is set. */
const PAUSE_DISTANCE_MS = 100;
/** Two deaths that are further apart count as unrelated. */
const REMEMBER_DEATH_MS = 600_000;
const QUARANTINE_MS = 3_600_000;

export interface Tally {
    host: string;
    passed: number;
    failed: number;
}

export interface Death {
    versionId: number;
    endpoint: string;
    /** Time since the job's admission, or less. An earlier death within this time counts as the same death. */
    ageMs: number;
    /** When the endpoint last succeeded, by the clock of the database (`app_now()`). */
    lastSuccessAt: Date | undefined;
}

export interface Quarantined {
    versionId: number;
    endpoint: string;
    /** By the clock of the database (`app_now()`). */
    until: Date;
}

/** An open circuit, a host or domain whose next turn is in the future, or an endpoint in quarantine. Times in ms since the epoch. */
export interface GuardRow {
    kind: 'circuit' | 'turn' | 'quarantine';
    /** A host, a key of `takeTurn`, or `<version id>:<endpoint>`. */
    key: string;
    until: number;
    /** When the probe of the circuit expires; null: no probe runs. */
    probeUntil: number | null;
    /** The current time of the store. */
    now: number;
}

export type GuardStore = ReturnType<typeof createGuardStore>;

/**
 * The circuits, turns and deaths that all processes share (migrations/310_circuits.ts). The clock is `app_now()`. Every method throws the
 * error of its client.
 * @param timeoutMs timeout of a statement
 */
export function createGuardStore(db: Db, timeoutMs: number) {
    const ask = <Row>(name: string, text: string, values: unknown[]) => runPrepared<Row>(db, { name, text }, values, timeoutMs);
    const one = async <Row>(name: string, text: string, values: unknown[]): Promise<Row> => {
        const [row] = await ask<Row>(name, text, values);
        if (row === undefined) throw new Error(`${name}: no answer`);
        return row;
    };
    return {
        /** Reads the state of all hosts and endpoints that may delay or refuse a call. The result has few rows. */
        read: () => ask<GuardRow>('guards-read', READ, [FORGET_MS]),
        /** Adds outcomes. Returns the hosts whose circuit these outcomes opened. */
        async report(tallies: readonly Tally[]): Promise<string[]> {
            const columns = [tallies.map(({ host }) => host), tallies.map(({ passed }) => passed), tallies.map(({ failed }) => failed)];
            const text = 'select host from circuit_report($1, $2, $3, $4, $5, $6) as host';
            const rows = await ask<{ host: string }>('circuit-report', text, [...columns, WINDOW_S, MIN, PERIOD_MS]);
            return rows.map(({ host }) => host);
        },
        /** @returns -1: the circuit is closed; 0: this operation is the probe; otherwise milliseconds to wait */
        async takeProbe(host: string, operation: string, lifeMs: number): Promise<number> {
            const text = 'select circuit_take_probe($1, $2, $3, $4) as wait';
            return (await one<{ wait: number }>('circuit-take-probe', text, [host, operation, lifeMs, PROBE_PATIENCE_MS])).wait;
        },
        /** `period_ms`: how long the circuit stays open after a failed probe. */
        endProbe(host: string, operation: string, verdict: CircuitVerdict) {
            return one<{ change: 'closed' | 'reopened' | 'unchanged'; period_ms: number | null }>(
                'circuit-end-probe',
                'select change, period_ms from circuit_end_probe($1, $2, $3, $4)',
                [host, operation, verdict, MAX_MS],
            );
        },
        /**
         * Takes one turn at a time that all keys allow, if it is within `patienceMs`.
         * @param keys the spacing of turns in ms for each key; null: only pauses apply
         */
        async takeTurn(keys: ReadonlyMap<string, number | null>, patienceMs: number): Promise<{ granted: boolean; waitMs: number }> {
            const { granted, wait_ms } = await one<{ granted: boolean; wait_ms: number }>(
                'site-turn',
                'select granted, wait_ms from site_turn($1, $2, $3, $4)',
                [[...keys.keys()], [...keys.values()], PAUSE_DISTANCE_MS, patienceMs],
            );
            return { granted, waitMs: wait_ms };
        },
        /**
         * Pauses requests to the host. A burst of 429s counts once.
         * @param ageMs since the request was sent
         * @returns false if this 429 belongs to a burst that already counted
         */
        async pause(host: string, pauseMs: number, ageMs: number): Promise<boolean> {
            return (await one<{ began: boolean }>('site-pause', 'select site_pause($1, $2, $3) as began', [host, pauseMs, ageMs])).began;
        },
        /** @returns whether this death quarantined the endpoint */
        async recordDeath({ versionId, endpoint, ageMs, lastSuccessAt }: Death): Promise<boolean> {
            const text = 'select worker_death($1, $2, $3, $4, $5, $6) as quarantined';
            const values = [versionId, endpoint, ageMs, lastSuccessAt ?? null, REMEMBER_DEATH_MS, QUARANTINE_MS];
            return (await one<{ quarantined: boolean }>('worker-death', text, values)).quarantined;
        },
        /** Quarantined endpoints in the order in which their quarantine ends, at most `limit`. */
        async quarantined(limit: number): Promise<Quarantined[]> {
            const text = `select version_id as "versionId", endpoint, quarantined_until as until from worker_deaths
                where quarantined_until > app_now() order by quarantined_until, version_id, endpoint limit $1`;
            return ask<Quarantined>('quarantined', text, [limit]);
        },
        /** Deletes expired circuits, turns, quarantines and deaths. */
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
