import type { Db } from '../../platform/db.ts';

/** A movement of an account's credits. */
export interface Movement {
    id: number;
    at: Date;
    kind: string;
    /** What of it can be spent: more or less. */
    availableDelta: number;
    /** What is put aside for calls in flight: more or less. */
    heldDelta: number;
    /** What could be spent after it. */
    balance: number;
    operation: string | null;
    note: string | null;
    /** Of the call that it belongs to; null where it belongs to none. */
    site: string | null;
    endpoint: string | null;
    workspaceId: string | null;
}

/** Older movements go on below this id, where so much could be spent. */
export type StatementPlace = readonly [id: number, balance: number];

/** An account's movements, newest first, each with the balance after it; the place is given by the page before. */
export async function listMovements(
    db: Db,
    accountId: string,
    { most, before }: { most: number; before: StatementPlace | undefined },
): Promise<{ movements: Movement[]; next: StatementPlace | undefined }> {
    // One statement, hence one snapshot: the balance is that after the newest movement of the page.
    const { rows } = await db.raw<{ rows: (Omit<Movement, 'balance'> & { available: number })[] }>(
        `select e.id, e.at, e.kind, e.available_delta as "availableDelta", e.held_delta as "heldDelta", e.operation, e.note,
                h.site, h.endpoint, h.workspace_id as "workspaceId", c.available
         from (select allowance_available + bonus_available as available from credit_accounts where id = :accountId) as c
         cross join lateral (
             select * from ledger_entries where account_id = :accountId and id < :below order by id desc limit :limit
         ) as e
         left join holds h on h.operation = e.operation
         order by e.id desc`,
        { accountId, below: before?.[0] ?? Number.MAX_SAFE_INTEGER, limit: most + 1 },
    );
    let balance = before?.[1] ?? rows[0]?.available ?? 0;
    const movements: Movement[] = [];
    for (const { available: _available, ...row } of rows.slice(0, most)) {
        movements.push({ ...row, balance });
        balance -= row.availableDelta;
    }
    const last = movements.at(-1);
    return { movements, next: rows.length > most && last !== undefined ? [last.id, balance] : undefined };
}
