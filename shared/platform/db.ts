import knex, { type Knex } from 'knex';
import pg from 'pg';

/** A pool or a transaction, the first argument of store functions. */
export type Db = Knex;

// Parse bigint as number: no column exceeds 2^53 (credits, row ids), and strings would compare as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export interface DbOptions {
    url: string;
    /** Maximum number of connections. */
    poolSize?: number;
    /** How long a query may wait for a connection, in milliseconds (goal R9); a second by default. */
    acquireTimeoutMs?: number | undefined;
    /** Statement timeout in milliseconds, also on the server. For short reads. */
    statementTimeoutMs?: number;
    /** Shown in pg_stat_activity. */
    name?: string;
    /** Receives errors of idle connections. */
    onError?: (error: Error) => void;
}

/**
 * How long a connection may take to open, in milliseconds. Longer than callers wait: a slow server needs four round trips, and the next
 * caller can use the connection.
 */
const CONNECT_MS = 2500;

/** Opens a pool; nothing connects before the first query. Close it with `db.destroy()`. */
export function openDb(options: DbOptions): Db {
    return knex({
        client: 'pg',
        // knex would log coloured text between the JSON lines on stdout. Callers report failures.
        log: { warn() {}, error() {}, debug() {}, deprecate() {} },
        // Messages of errors are logged: they show the statement, never its values.
        compileSqlOnError: false,
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
            afterCreate(
                connection: pg.Client & { __knex__disposed?: boolean },
                done: (error: Error | null, connection: pg.Client) => void,
            ) {
                connection.on('error', (error) => options.onError?.(error));
                // The server closes a connection after a fatal error: in the moment before, nobody else gets it.
                connection.connection.on('errorMessage', ({ severity }: { severity?: string }) => {
                    if (severity === 'FATAL') connection.__knex__disposed = true;
                });
                done(null, connection);
            },
        },
    });
}

/**
 * Connection options for short reads. A pooler may ignore the server settings, so the client has a timeout too. JIT never pays off here, nor
 * does handing single pages to the reading processes of PostgreSQL 18: it costs more than the read.
 */
function boundedTo(ms: number): { options: string; query_timeout: number } {
    const settings = `-c statement_timeout=${ms} -c jit=off -c max_parallel_workers_per_gather=0 -c effective_io_concurrency=0`;
    return { options: settings, query_timeout: ms + 500 };
}

/** Where each field of a row comes from: a column, an expression or a subquery. For `select` and `first`. */
export type Columns<Row> = Readonly<Record<keyof Row, string | Knex.Raw | Knex.QueryBuilder>>;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** Columns under their names in camel case. @param table its alias in the statement, or '' */
export function columns<const Name extends string>(table: string, ...names: Name[]): { [Column in Name as Camel<Column>]: string } {
    const named = names.map((name) => [name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), name] as const);
    return Object.fromEntries(named.map(([field, name]) => [field, table === '' ? name : `${table}.${name}`])) as never;
}

/** Values under the names of their columns: the other way round. Undefined ones are left to the database. */
export function toColumns(values: object): Record<string, unknown> {
    return Object.fromEntries(
        Object.entries(values).map(([field, value]) => [field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
    );
}

/** An interval of PostgreSQL, such as `7 days`. */
export type Interval = `${number} ${'milliseconds' | 'seconds' | 'minutes' | 'hours' | 'days'}`;

/** The time of SQL, which tests can move. */
export function now(db: Db): Knex.Raw {
    return db.raw('app_now()');
}

/** The time of SQL after an interval. */
export function fromNow(db: Db, interval: Interval): Knex.Raw {
    return db.raw('(app_now() + ?::interval)', [interval]);
}

/** The time of SQL before an interval. */
export function ago(db: Db, interval: Interval): Knex.Raw {
    return db.raw('(app_now() - ?::interval)', [interval]);
}

/** The value of a column; the time of SQL where it has none. */
export function orNow(db: Db, column: string): Knex.Raw {
    return db.raw('coalesce(??, app_now())', [column]);
}

/** Conditions for `where` without those that are undefined, which do not narrow. */
export function definedConditions(conditions: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return Object.fromEntries(Object.entries(conditions).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** How many rows a query finds. */
export async function countRows(query: Knex.QueryBuilder): Promise<number> {
    const [row] = await query.count<{ count: number }[]>();
    return row?.count ?? 0;
}

/** Totals of lists that may have millions of rows go no further. */
const MOST_COUNTED = 100_000;

/** How many rows a query finds, up to 100,000. @param query selects one column */
export async function countSome(db: Db, query: Knex.QueryBuilder): Promise<number> {
    return countRows(db.from(query.limit(MOST_COUNTED).as('counted')));
}

/** Columns as a list for SQL: `v.id as "versionId", …`. */
export function columnList(columns: Readonly<Record<string, string>>): string {
    return Object.entries(columns)
        .map(([field, column]) => `${column} as "${field}"`)
        .join(', ');
}

/** The most bytes of what the rows of one page hold, unless one row alone has more. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/** A page of rows, of which one more than `limit` was read where there is one; `last`: behind which row the next page begins. */
export function cutPage<Row>(rows: readonly Row[], limit: number): { shown: Row[]; last: Row | undefined } {
    const shown = rows.slice(0, limit);
    return { shown, last: rows.length > limit ? shown.at(-1) : undefined };
}
