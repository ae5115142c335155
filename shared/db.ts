import { fileURLToPath } from 'node:url';
import knex, { type Knex } from 'knex';
import pg from 'pg';

/** A pool or a transaction: whatever a store function is given as its first argument. */
export type Db = Knex;

// Numbers stay numbers: no bigint column of ours passes 2^53 (credits, ids of rows), and strings would be compared as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

export interface DbOptions {
    url: string;
    /** Connections at the most. */
    poolSize?: number;
    /** How long a query may wait for a connection, in milliseconds (GOALS R9). */
    acquireTimeoutMs?: number;
    /** How long a statement may run, in milliseconds; then it is given up, on the server too. Meant for many short reads. */
    statementTimeoutMs?: number;
    /** Shown in pg_stat_activity. */
    name?: string;
    /** Told about errors of idle connections, which have nobody else to tell. */
    onError?: (error: Error) => void;
}

/**
 * How long a connection may take to open. Longer than anybody waits for one: a server that takes half a second for each of the four
 * questions that this needs would get none at all otherwise, and whoever comes next finds it open.
 */
const CONNECT_MS = 2500;

/** Opens a pool; nothing connects before the first query. Close it with `db.destroy()`. */
export function openDb(options: DbOptions): Db {
    return knex({
        client: 'pg',
        // Its own reports would be coloured text on stdout, between our lines of JSON; what fails is reported by whoever asked.
        log: { warn() {}, error() {}, debug() {}, deprecate() {} },
        connection: {
            connectionString: options.url,
            application_name: options.name ?? 'routebook',
            connectionTimeoutMillis: options.acquireTimeoutMs ?? CONNECT_MS,
            keepAlive: true,
            ...(options.statementTimeoutMs === undefined ? {} : boundedTo(options.statementTimeoutMs)),
        },
        pool: {
            min: 0,
            max: options.poolSize ?? 16,
            acquireTimeoutMillis: options.acquireTimeoutMs ?? 1000,
            idleTimeoutMillis: 30_000,
            propagateCreateError: true,
            afterCreate(connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) {
                connection.on('error', (error) => options.onError?.(error));
                done(null, connection);
            },
        },
    });
}

/** A pooler in between may ignore the settings: then the connection is given up a moment later. No short read is worth compiling. */
function boundedTo(ms: number): { options: string; query_timeout: number } {
    return { options: `-c statement_timeout=${ms} -c jit=off -c max_parallel_workers_per_gather=0`, query_timeout: ms + 500 };
}

/** Brings the database at `url` up to date; does nothing where it is already. */
export async function migrate(url: string): Promise<void> {
    const db = openDb({ url, poolSize: 2, acquireTimeoutMs: 30_000, name: 'routebook-migrate' });
    try {
        await db.migrate.latest({ directory: MIGRATIONS, loadExtensions: ['.ts'], tableName: 'migrations' });
    } finally {
        await db.destroy();
    }
}
