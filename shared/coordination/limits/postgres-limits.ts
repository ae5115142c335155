import type { ConnectionLog } from '../../platform/connection-log.ts';
import { openPool } from '../../platform/postgres-pool.ts';
import type { LimitStore, StoreAnswer } from './types.ts';

/** Timeout for the connection, and again for the answer. */
const PATIENCE_MS = 1000;
/** Interval of the deletion of ended windows and expired leases. */
const SWEEP_MS = 60_000;

interface TakeRow {
    verdict: number;
    used: number[];
    left_ms: number[];
}

const TAKE = { name: 'limits-take', text: 'select verdict, used, left_ms from limits_take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)' };

/** Opens the counters in PostgreSQL: UNLOGGED tables and one function (migrations/300_limits.ts). The clock is `app_now()`. */
export function openPostgresLimits(options: { databaseUrl: string; log: ConnectionLog; patienceMs?: number | undefined }): LimitStore {
    const { databaseUrl, log, patienceMs = PATIENCE_MS } = options;
    const pool = openPool({
        url: databaseUrl,
        part: 'postgres limits',
        log,
        max: 6,
        timeoutMs: patienceMs,
        settings: '-c synchronous_commit=off',
    });
    const sweep = setInterval(() => void pool.query('select limits_sweep()').catch(() => undefined), SWEEP_MS).unref();
    return {
        async take({ identity, windows, lease }) {
            const values = [
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
                lease?.isFree ?? false,
            ];
            const { rows } = await pool.query<TakeRow>({ ...TAKE, values });
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
    if (row === undefined) throw new Error('the limits function returned no row');
    return { verdict: row.verdict, used: row.used, leftMs: row.left_ms };
}
