import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Db } from './db.ts';
import { failureOf } from './pg-errors.ts';

/**
 * A statement of the hot path: parsed and planned once a connection. `$1` for values. An array is unpacked by `unnest((select $1::…))`:
 * where the server sees its length while it plans, it takes each length for a plan of its own and plans anew every time (600 µs of
 * the server's time for a card instead of 130).
 */
export interface PreparedQuery {
    /** Unique among all statements; another text needs another name. */
    name: string;
    text: string;
}

/** The part of knex's client that hands out connections of its pool. */
interface ConnectionPool {
    acquireConnection(): Promise<pg.Client & { __knex__disposed?: unknown }>;
    releaseConnection(connection: pg.Client): Promise<void>;
    emit(event: 'query', query: { sql: string }): void;
}

/** SQLSTATEs of a pooler that gives each statement another connection (PgBouncer in transaction mode, before 1.21). */
const UNKNOWN_STATEMENT = new Set(['26000', '42P05']);
let canPrepare = true;

/**
 * Runs a statement on a connection of knex's pool without knex's own work, which costs more than the statement where it is
 * short, and prepared, so that the server does not plan it again each time.
 * @param timeoutMs after it the connection is given up, since its answer may still come.
 */
export async function runPrepared<Row>(
    db: Db,
    { name, text }: PreparedQuery,
    values: readonly unknown[],
    timeoutMs: number,
): Promise<Row[]> {
    return onConnection(db, text, async (connection) => {
        try {
            const query = { text, values: [...values], query_timeout: timeoutMs, ...(canPrepare ? { name } : {}) };
            return (await connection.query(query)).rows as Row[];
        } catch (error) {
            if (!canPrepare || !(error instanceof Error && 'code' in error && UNKNOWN_STATEMENT.has(String(error.code)))) throw error;
            canPrepare = false;
            return (await connection.query({ text, values: [...values] })).rows as Row[];
        }
    });
}

/** A statement that is put together from parts: `:name`, in small letters, stands for a value. */
export interface Composed {
    text: string;
    values: Readonly<Record<string, unknown>>;
    /** PostgreSQL's type of each value. */
    types: Readonly<Record<string, string>>;
}

/** Runs a composed statement whose best plan depends on its values. The server plans it each time, which takes a millisecond. */
export async function runPlanned<Row>(db: Db, composed: Composed): Promise<Row[]> {
    const { text, values } = number(composed, (place, type) => `cast($${place} as ${type})`);
    return onConnection(db, text, async (connection) => (await connection.query({ text, values })).rows as Row[]);
}

/** Runs a composed statement whose plan is the same whatever its values are, planned once a connection; of few forms, since each is kept. */
export async function runComposed<Row>(db: Db, composed: Composed, timeoutMs: number): Promise<Row[]> {
    const { text, values } = number(composed, (place, type) => `(select cast($${place} as ${type}))`);
    const name = `composed_${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
    return runPrepared(db, { name, text }, values, timeoutMs);
}

function number({ text, values, types }: Composed, write: (place: number, type: string) => string): { text: string; values: unknown[] } {
    const given: unknown[] = [];
    const places = new Map<string, number>();
    const numbered = text.replace(/(?<!:):([a-z]+)\b/g, (_, name: string) => {
        const place = places.get(name) ?? given.push(values[name]);
        places.set(name, place);
        return write(place, types[name] ?? 'text');
    });
    return { text: numbered, values: given };
}

async function onConnection<Answer>(db: Db, text: string, work: (connection: pg.Client) => Promise<Answer>): Promise<Answer> {
    const pool: ConnectionPool = db.client;
    const connection = await pool.acquireConnection();
    // Listeners of knex's queries receive these too.
    pool.emit('query', { sql: text });
    try {
        return await work(connection);
    } catch (error) {
        // After a rollback because of another transaction the connection is usable.
        if (['unknown', 'unsent'].includes(failureOf(error))) connection.__knex__disposed = error;
        throw error;
    } finally {
        await pool.releaseConnection(connection);
    }
}
