import type pg from 'pg';
import type { Db } from '../db.ts';
import { isOutage } from './credits/outages.ts';

/** A statement of the hot path: parsed and planned once a connection. `$1` for values. */
export interface Statement {
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
 * short, and prepared, so that the server does not plan it anew each time.
 * @param timeoutMs after it the connection is given up, since its answer may still come.
 */
export async function run<Row>(db: Db, { name, text }: Statement, values: readonly unknown[], timeoutMs: number): Promise<Row[]> {
    const pool: ConnectionPool = db.client;
    const connection = await pool.acquireConnection();
    // Whoever listens to knex's queries hears of these too.
    pool.emit('query', { sql: text });
    try {
        const query = { text, values: [...values], query_timeout: timeoutMs, ...(canPrepare ? { name } : {}) };
        return (await connection.query(query)).rows as Row[];
    } catch (error) {
        if (canPrepare && error instanceof Error && 'code' in error && UNKNOWN_STATEMENT.has(String(error.code))) {
            canPrepare = false;
            return (await connection.query({ text, values: [...values] })).rows as Row[];
        }
        if (isOutage(error)) connection.__knex__disposed = error;
        throw error;
    } finally {
        await pool.releaseConnection(connection);
    }
}
