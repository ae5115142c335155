import type { OutageLog } from '../outage.ts';
import { openPool } from '../postgres-pool.ts';
import type { LimitStore } from './store.ts';
import type { StoreAnswer } from './types.ts';

/** How long ended windows and expired leases may lie about. */
const SWEEP_MS = 60_000;

interface TakeRow {
    verdict: number;
    used: number[];
    left_ms: number[];
}

/** The counters in PostgreSQL: UNLOGGED tables and one function, see migrations/0011_limits.ts. The clock is `app_now()`. */
export function openPostgresLimits({ databaseUrl, log }: { databaseUrl: string; log: OutageLog }): LimitStore {
    const pool = openPool({
        url: databaseUrl,
        part: 'postgres limits',
        log,
        max: 6,
        timeoutMs: 1000,
        settings: '-c synchronous_commit=off',
    });
    const sweep = setInterval(() => void pool.query('select limits_sweep()').catch(() => undefined), SWEEP_MS).unref();
    return {
        async take({ identity, windows, lease }) {
            const { rows } = await pool.query<TakeRow>({
                name: 'limits-take',
                text: 'select verdict, used, left_ms from limits_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
                values: [
                    identity,
                    windows.map(({ name }) => name),
                    windows.map(({ limit }) => limit),
                    windows.map(({ seconds }) => seconds),
                    lease?.operation ?? null,
                    lease?.account ?? null,
                    lease?.concurrency ?? null,
                    lease?.site ?? null,
                    lease?.share ?? null,
                    lease === undefined ? null : Math.max(1, Math.round(lease.expiresAt - Date.now())),
                ],
            });
            return fromRow(rows[0]);
        },
        async end({ operation }) {
            await pool.query({ name: 'limits-end', text: 'delete from limit_leases where operation = $1', values: [operation] });
        },
        async peek(identity, windows, account) {
            const { rows } = await pool.query<TakeRow & { in_flight: number }>({
                name: 'limits-peek',
                text: 'select used, left_ms, in_flight from limits_peek($1, $2, $3)',
                values: [identity, windows.map(({ name }) => name), account],
            });
            return { answer: fromRow(rows[0]), inFlight: rows[0]?.in_flight ?? 0 };
        },
        async close() {
            clearInterval(sweep);
            await pool.end();
        },
    };
}

function fromRow(row: TakeRow | undefined): StoreAnswer {
    if (row === undefined) throw new Error('the limits function answered nothing');
    return { verdict: row.verdict, used: row.used, leftMs: row.left_ms };
}
