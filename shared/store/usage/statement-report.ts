import { type Columns, columns, type Db } from '../../platform/db.ts';

/** A movement of an account's credits. */
export interface Movement {
    id: number;
    at: Date;
    kind: string;
    /** Change of the available credits. */
    availableDelta: number;
    /** Change of the credits held for calls in flight. */
    heldDelta: number;
    /** The available credits after it. */
    balance: number;
    operation: string | null;
    note: string | null;
    /** Of the call that it belongs to; null if it belongs to none. */
    site: string | null;
    endpoint: string | null;
    workspaceId: string | null;
}

const MOVEMENT: Columns<Omit<Movement, 'balance'>> = {
    ...columns('e', 'id', 'at', 'kind', 'available_delta', 'held_delta', 'operation', 'note'),
    ...columns('h', 'site', 'endpoint', 'workspace_id'),
};

/** Older movements go on below this id, where so much could be spent. */
export type StatementPlace = readonly [id: number, balance: number];

/** An account's movements, newest first, each with the balance after it; the place is given by the page before. */
export async function listMovements(
    db: Db,
    accountId: string,
    { most, before }: { most: number; before: StatementPlace | undefined },
): Promise<{ movements: Movement[]; next: StatementPlace | undefined }> {
    const spendable = db('credit_accounts').where({ id: accountId }).select(db.raw('allowance_available + bonus_available'));
    // One statement, hence one snapshot: the balance is that after the newest movement of the page.
    const rows: (Omit<Movement, 'balance'> & { available: number })[] = await db('ledger_entries as e')
        .leftJoin('holds as h', 'h.operation', 'e.operation')
        .where({ 'e.account_id': accountId })
        .where('e.id', '<', before?.[0] ?? Number.MAX_SAFE_INTEGER)
        .orderBy('e.id', 'desc')
        .limit(most + 1)
        .select({ ...MOVEMENT, available: spendable });
    let balance = before?.[1] ?? rows[0]?.available ?? 0;
    const movements: Movement[] = [];
    for (const { available: _available, ...row } of rows.slice(0, most)) {
        movements.push({ ...row, balance });
        balance -= row.availableDelta;
    }
    const last = movements.at(-1);
    return { movements, next: rows.length > most && last !== undefined ? [last.id, balance] : undefined };
}
