import { type Columns, columns, type Db } from '../../platform/db.ts';

/** A movement of an account's credits. */
export interface Movement {
    id: number;
    at: Date;
    kind: string;
    availableDelta: number;
    /** Change of the credits held for running calls. */
    heldDelta: number;
    /** The available credits after the movement. */
    balance: number;
    operation: string | null;
    /** The batch, if items of it moved the credits, and how many of them. */
    batchId: string | null;
    items: number | null;
    note: string | null;
    /** The site of the call to which the movement belongs; null if there is none. */
    site: string | null;
    endpoint: string | null;
    workspaceId: string | null;
}

const MOVEMENT: Columns<Omit<Movement, 'balance'>> = {
    ...columns('e', 'id at kind available_delta held_delta operation batch_id items note'),
    ...columns('h', 'site endpoint workspace_id'),
};

/** The position from which older movements continue: the id below which they are, and the balance of each account at that point. */
export type StatementPlace = readonly [id: number, balances: Readonly<Record<string, number>>];

/** The paying account, and the one that this user or workspace had before a change of plan and that was merged into it. */
export async function statementAccounts(
    db: Db,
    { accountId, userId, workspaceId }: { accountId: string; userId: string; workspaceId: string },
): Promise<string[]> {
    const before = db('credit_accounts').where({ moved_to: accountId }).whereIn('id', [userId, workspaceId]);
    return [accountId, ...(await before.pluck('id'))];
}

/** The movements of accounts, newest first, each with the balance of its account after it. The previous page returns the position. */
export async function listMovements(
    db: Db,
    accountIds: readonly string[],
    { limit, before }: { limit: number; before: StatementPlace | undefined },
): Promise<{ movements: Movement[]; next: StatementPlace | undefined }> {
    const spendable = db('credit_accounts as c')
        .where('c.id', db.ref('e.account_id'))
        .select(db.raw('c.allowance_available + c.bonus_available'));
    const newest = db('ledger_entries as e')
        .leftJoin('holds as h', 'h.operation', db.raw('coalesce(e.hold_operation, e.operation)'))
        .where('e.account_id', db.ref('a.account_id'))
        .where('e.id', '<', before?.[0] ?? Number.MAX_SAFE_INTEGER)
        .orderBy('e.id', 'desc')
        .limit(limit + 1)
        .select({ ...MOVEMENT, accountId: 'e.account_id', available: spendable });
    // One statement and therefore one snapshot, so the balance is that after the newest movement of the page.
    const rows: (Omit<Movement, 'balance'> & { accountId: string; available: number })[] = await db
        .from(db.raw('unnest(?::text[]) as a (account_id)', [[...accountIds]]))
        .crossJoin(db.raw('lateral ? as e', [newest]))
        .orderBy('e.id', 'desc')
        .limit(limit + 1)
        .select('e.*');
    const balances: Record<string, number> = { ...before?.[1] };
    const movements: Movement[] = [];
    for (const { available, accountId, ...row } of rows.slice(0, limit)) {
        const balance = balances[accountId] ?? available;
        movements.push({ ...row, balance });
        balances[accountId] = balance - row.availableDelta;
    }
    const last = movements.at(-1);
    return { movements, next: rows.length > limit && last !== undefined ? [last.id, balances] : undefined };
}
