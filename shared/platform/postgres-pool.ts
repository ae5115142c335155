import pg from 'pg';
import { type ConnectionLog, watchConnection } from './connection-log.ts';

interface PoolOptions {
    url: string;
    /** The name of the pool in the log and in pg_stat_activity. */
    part: string;
    log: ConnectionLog;
    max: number;
    /** How long a query may wait for a connection, and then as long again for its answer. */
    timeoutMs: number;
    /** Server settings of each connection, for example `-c synchronous_commit=off`. */
    settings?: string;
    /** A statement that each new connection runs first. */
    first?: string;
}

/** Opens a plain pg pool, for code that needs neither transactions nor a query builder. It connects on the first query. */
export function openPool({ url, part, log, max, timeoutMs, settings, first }: PoolOptions): pg.Pool {
    const pool = new pg.Pool({
        connectionString: url,
        application_name: `routebook-${part.replaceAll(' ', '-')}`,
        max,
        connectionTimeoutMillis: timeoutMs,
        query_timeout: timeoutMs,
        keepAlive: true,
        idleTimeoutMillis: 30_000,
        ...(settings === undefined ? {} : { options: settings }),
        ...(first === undefined ? {} : { onConnect: async (client) => void (await client.query(first)) }),
    });
    const status = watchConnection(log, part);
    pool.on('error', status.down);
    pool.on('connect', status.up);
    return pool;
}
