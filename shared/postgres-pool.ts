import pg from 'pg';
import { type OutageLog, watchOutage } from './outage.ts';

export interface PoolOptions {
    url: string;
    /** Its name in the log and in pg_stat_activity. */
    part: string;
    log: OutageLog;
    max: number;
    /** How long a query may wait for a connection, and then for its answer, in milliseconds each. */
    timeoutMs: number;
    /** Server settings of each connection, e.g. `-c synchronous_commit=off`. */
    settings?: string;
}

/** A bare pg pool for what needs neither transactions nor a query builder. Nothing connects before the first query; close with `end()`. */
export function openPool({ url, part, log, max, timeoutMs, settings }: PoolOptions): pg.Pool {
    const pool = new pg.Pool({
        connectionString: url,
        application_name: `routebook-${part.replaceAll(' ', '-')}`,
        max,
        connectionTimeoutMillis: timeoutMs,
        query_timeout: timeoutMs,
        keepAlive: true,
        idleTimeoutMillis: 30_000,
        ...(settings === undefined ? {} : { options: settings }),
    });
    const outage = watchOutage(log, part);
    pool.on('error', outage.down);
    pool.on('connect', outage.up);
    return pool;
}
