import type { ConnectionLog } from '../../platform/connection-log.ts';
import { openPool } from '../../platform/postgres-pool.ts';
import { CIRCUIT, DEATHS, PAUSE_DISTANCE_MS } from '../figures.ts';
import type { CircuitStore, ProbeChange } from './store.ts';

const SWEEP_MS = 60_000;

/** Opens circuits, turns and deaths in PostgreSQL (migrations/1210_circuits.ts). The clock is `app_now()`. */
export function openPostgresCircuits({ databaseUrl, log }: { databaseUrl: string; log: ConnectionLog }): CircuitStore {
    const pool = openPool({
        url: databaseUrl,
        part: 'postgres circuits',
        log,
        max: 3,
        timeoutMs: 1000,
        settings: '-c synchronous_commit=off',
    });
    const sweep = setInterval(() => void pool.query('select circuit_sweep()').catch(() => undefined), SWEEP_MS).unref();
    const ask = async <Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> =>
        (await pool.query<Row>({ name, text, values })).rows;
    const one = async <Row extends object>(name: string, text: string, values: unknown[]): Promise<Row> => {
        const [row] = await ask<Row>(name, text, values);
        if (row === undefined) throw new Error(`${name}: no answer`);
        return row;
    };
    return {
        async report(tallies) {
            const rows = await ask<{ site: string }>('circuit-report', 'select site from circuit_report($1, $2, $3, $4, $5, $6) as site', [
                tallies.map(({ site }) => site),
                tallies.map(({ passed }) => passed),
                tallies.map(({ failed }) => failed),
                CIRCUIT.windowS,
                CIRCUIT.least,
                CIRCUIT.periodMs,
            ]);
            return rows.map(({ site }) => site);
        },
        async takeProbe(site, operation, lifeMs) {
            const text = 'select circuit_take_probe($1, $2, $3, $4) as wait';
            return (await one<{ wait: number }>('circuit-take-probe', text, [site, operation, lifeMs, CIRCUIT.probePatienceMs])).wait;
        },
        async endProbe(site, operation, verdict) {
            const text = 'select change, period_ms from circuit_end_probe($1, $2, $3, $4)';
            const row = await one<{ change: ProbeChange; period_ms: number | null }>('circuit-end-probe', text, [
                site,
                operation,
                verdict,
                CIRCUIT.longestMs,
            ]);
            return { change: row.change, periodMs: row.period_ms ?? 0 };
        },
        async open() {
            const text = `select registrable from circuits where open_until > app_now() - interval '10 minutes'`;
            return (await ask<{ registrable: string }>('circuit-open', text, [])).map(({ registrable }) => registrable);
        },
        async takeTurn(site, intervalMs, patienceMs) {
            const text = 'select granted, wait_ms from site_turn($1, $2, $3, $4)';
            const values = [site, intervalMs, PAUSE_DISTANCE_MS, patienceMs];
            const { granted, wait_ms } = await one<{ granted: boolean; wait_ms: number }>('site-turn', text, values);
            return { granted, waitMs: wait_ms };
        },
        async pause(site, pauseMs, ageMs) {
            return (await one<{ began: boolean }>('site-pause', 'select site_pause($1, $2, $3) as began', [site, pauseMs, ageMs])).began;
        },
        async recordDeath({ versionId, endpoint, ageMs, lastSuccessAt }) {
            const text = 'select worker_death($1, $2, false, $3, $4, $5, $6) as quarantined';
            const values = [versionId, endpoint, ageMs, lastSuccessAt ?? null, DEATHS.rememberMs, DEATHS.quarantineMs];
            return (await one<{ quarantined: boolean }>('worker-death', text, values)).quarantined;
        },
        async quarantined(most) {
            const text = `select version_id, endpoint, quarantined_until as until from worker_deaths
                where quarantined_until > app_now() order by quarantined_until, version_id, endpoint limit $1`;
            const rows = await ask<{ version_id: string; endpoint: string; until: Date }>('quarantined', text, [most]);
            return rows.map(({ version_id, endpoint, until }) => ({ versionId: Number(version_id), endpoint, until }));
        },
        async close() {
            clearInterval(sweep);
            await pool.end();
        },
    };
}
