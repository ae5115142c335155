import type { Db } from '../../platform/db.ts';
import { persist } from '../../platform/pg-errors.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';

const MARK: PreparedQuery = { name: 'credits_mark_sent', text: 'select operation from credits_mark_sent($1, $2)' };
const FIND: PreparedQuery = {
    name: 'credits_find_marks',
    text: 'select operation from holds where operation = any ($1::text[]) and sent_by = $2',
};

/**
 * Marks writes as sent, `held → sent`, in one query; true for those that this call marked. `by` names the marking process,
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

async function query(db: Db, query: PreparedQuery, operations: readonly string[], by: string, timeoutMs: number): Promise<string[]> {
    const rows = await runPrepared<{ operation: string }>(db, query, [[...operations], by], timeoutMs);
    return rows.map((row) => row.operation);
}
