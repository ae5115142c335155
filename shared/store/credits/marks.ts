import type { Db } from '../../db.ts';
import { persist } from './outages.ts';

const MARK = 'select operation from credits_mark_sent(?::text[], ?)';
const FIND = `select operation from holds where operation = any (?::text[]) and sent_by = ?`;

/**
 * Marks writes as sent, `held → sent`, in one statement; true for those that this call marked. `by` names the marking process,
 * so that after a lost answer it knows its own marks. An error means: not known, so nothing may be sent.
 */
export async function markAll(
    db: Db,
    operations: readonly string[],
    by: string,
    limits: { patienceMs: number; timeoutMs: number },
): Promise<boolean[]> {
    const marked = await persist(limits.patienceMs, async (mayBeDone) => {
        const now = await query(db, MARK, operations, by, limits.timeoutMs);
        return mayBeDone ? [...now, ...(await query(db, FIND, operations, by, limits.timeoutMs))] : now;
    });
    const ours = new Set(marked);
    return operations.map((operation) => ours.has(operation));
}

async function query(db: Db, sql: string, operations: readonly string[], by: string, timeoutMs: number): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { operation: string }[] }>(sql, [[...operations], by]).timeout(timeoutMs);
    return rows.map((row) => row.operation);
}
