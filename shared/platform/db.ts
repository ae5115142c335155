import knex, { type Knex } from 'knex';
import pg from 'pg';
import { type Camel, toCamel, type Words } from '../domain/text/snake-case.ts';

/** A pool or a transaction. It is the first argument of all store functions. */
export type Db = Knex;

// Parses bigint as a number. No column exceeds 2^53 (credits, row ids), and strings would compare as text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// The default parser takes three times as long, which matters for lists. It still reads what Date cannot, such as infinity.
const readAnyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => (text.startsWith('2') ? new Date(text) : readAnyTime(text)));

export interface DbOptions {
    url: string;
    poolSize?: number;
    /** How long a query may wait for a connection (goal R9); 1000 by default. */
    acquireTimeoutMs?: number | undefined;
    /** Statement timeout in milliseconds, also enforced by the server. For short reads. */
    statementTimeoutMs?: number;
    /** After this time an unused connection is closed; 30,000 by default. */
    idleMs?: number;
    /** The application name in pg_stat_activity. */
    name?: string;
    /** Receives errors of idle connections. */
    onError?: (error: Error) => void;
    /** Receives the SQLSTATE of every error of the server, also of those that are retried. */
    onServerError?: ((code: string) => void) | undefined;
}

/** Longer than callers wait: a slow server needs four round trips, and the next caller can use the connection. */
const CONNECT_MS = 2500;

/** Opens a pool. It connects on the first query. Close it with `db.destroy()`. */
export function openDb(options: DbOptions): Db {
    return knex({
        client: 'pg',
        // knex would write coloured text between the JSON lines on stdout. Callers log failures.
        log: { warn() {}, error() {}, debug() {}, deprecate() {} },
        // Error messages are logged. With this option they contain the statement but not its values.
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
            idleTimeoutMillis: options.idleMs ?? 30_000,
            propagateCreateError: true,
            afterCreate(
                connection: pg.Client & { __knex__disposed?: boolean },
                done: (error: Error | null, connection: pg.Client) => void,
            ) {
                connection.on('error', (error) => options.onError?.(error));
                // The server closes a connection after a fatal error. This removes it from the pool before another query gets it.
                connection.connection.on('errorMessage', ({ severity, code = '' }: { severity?: string; code?: string }) => {
                    if (severity === 'FATAL') connection.__knex__disposed = true;
                    options.onServerError?.(code);
                });
                // Times are parsed in this style. A database or a role may have another one, which may swap day and month.
                connection.query('set datestyle to iso', (error: Error | null) => {
                    // knex does not close a connection that it does not get.
                    if (error !== null) connection.end(() => {});
                    done(error, connection);
                });
            },
        },
    });
}

/**
 * Connection options for short reads. A pooler may ignore the server settings, so the client has a timeout too. JIT compilation takes
 * longer than these reads, and so do the I/O workers of PostgreSQL 18 for single pages.
 */
function boundedTo(ms: number): { options: string; query_timeout: number } {
    const settings = `-c statement_timeout=${ms} -c jit=off -c max_parallel_workers_per_gather=0 -c effective_io_concurrency=0`;
    return { options: settings, query_timeout: ms + 500 };
}

/** The source of each field of a row: a column, an expression or a subquery. For `select` and `first`. */
export type Columns<Row> = Readonly<Record<keyof Row, string | Knex.Raw | Knex.QueryBuilder>>;

/**
 * Columns under their camel-case names.
 * @param table its alias in the statement, or '' @param names with blanks between; several texts where one would not fit in a line
 */
export function columns<const Names extends string>(
    table: string,
    ...names: Names[]
): { [Column in Words<Names> as Camel<Column>]: string } {
    const words = names.flatMap((text) => text.split(' '));
    const named = words.map((name) => [toCamel(name), name] as const);
    return Object.fromEntries(named.map(([field, name]) => [field, table === '' ? name : `${table}.${name}`])) as never;
}

/** The inverse of `columns`: values under the names of their columns. Undefined values get the column default. */
export function toColumns(values: object): Record<string, unknown> {
    return Object.fromEntries(
        Object.entries(values).map(([field, value]) => [field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
    );
}

/** A PostgreSQL interval, for example `7 days`. */
export type Interval = `${number} ${'milliseconds' | 'seconds' | 'minutes' | 'hours' | 'days'}`;

/** The current time of the database. Tests can change it. */
export function now(db: Db): Knex.Raw {
    return db.raw('app_now()');
}

export function fromNow(db: Db, interval: Interval): Knex.Raw {
    return db.raw('(app_now() + ?::interval)', [interval]);
}

export function ago(db: Db, interval: Interval): Knex.Raw {
    return db.raw('(app_now() - ?::interval)', [interval]);
}

/** The value of a column, or the current time of the database if the value is null. */
export function orNow(db: Db, column: string): Knex.Raw {
    return db.raw('coalesce(??, app_now())', [column]);
}

/** Transactions that lock the same name run one after the other. The lock ends with the transaction. */
export async function lockName(trx: Db, name: string): Promise<void> {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
}

/** Conditions for `where`. Omits undefined ones, which do not restrict the result. */
export function definedConditions(conditions: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return Object.fromEntries(Object.entries(conditions).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export async function countRows(query: Knex.QueryBuilder): Promise<number> {
    const [row] = await query.count<{ count: number }[]>();
    return row?.count ?? 0;
}

/** Maximum total of a list. Lists may have millions of rows. */
export const MAX_COUNTED = 100_000;

/** Number of rows that a query finds, at most 100,000. @param query selects one column */
export async function countSome(db: Db, query: Knex.QueryBuilder): Promise<number> {
    return countRows(db.from(query.limit(MAX_COUNTED).as('counted')));
}

/** Columns as a SQL select list: `v.id as "versionId", …`. */
export function columnList(columns: Readonly<Record<string, string>>): string {
    return Object.entries(columns)
        .map(([field, column]) => `${column} as "${field}"`)
        .join(', ');
}

/** Maximum size of the rows of one page in bytes, unless a single row is larger. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/** Creates a page from a query that read up to `limit` + 1 rows. `last`: the row after which the next page begins. */
export function cutPage<Row>(rows: readonly Row[], limit: number): { shown: Row[]; last: Row | undefined } {
    const shown = rows.slice(0, limit);
    return { shown, last: rows.length > limit ? shown.at(-1) : undefined };
}
