import { columns, type Db } from '../../platform/db.ts';

/** An account whose books do not agree: by how much each sum is off (0 where it is right). */
interface Drift {
    accountId: string;
    /** allowance and bonus available, minus what the ledger's entries sum to. */
    available: number;
    /** held, minus what the ledger's entries sum to. */
    held: number;
    /** held, minus what the open holds sum to. */
    openHolds: number;
}

interface LedgerEntry {
    id: number;
    operation: string | null;
    kind: string;
    availableDelta: number;
    heldDelta: number;
    note: string | null;
    at: Date;
}

/**
 * Every account whose ledger or open holds do not sum to its balance, entries without an account among them; empty when the
 * books are right. One statement, hence one snapshot: correct under load too.
 */
export async function checkLedger(db: Db): Promise<Drift[]> {
    const { rows } = await db.raw<{ rows: Drift[] }>(`
        with entries as (
            select account_id as id, sum(available_delta)::bigint as available, sum(held_delta)::bigint as held
            from ledger_entries group by account_id
        ), open as (
            select account_id as id, sum(amount)::bigint as amount from holds where state in ('held', 'sent') group by account_id
        ), drift as (
            select coalesce(c.id, e.id, o.id) as "accountId",
                   coalesce(c.allowance_available + c.bonus_available, 0) - coalesce(e.available, 0) as available,
                   coalesce(c.held, 0) - coalesce(e.held, 0) as held,
                   coalesce(c.held, 0) - coalesce(o.amount, 0) as "openHolds"
            from credit_accounts c full join entries e on e.id = c.id full join open o on o.id = coalesce(c.id, e.id)
        )
        select * from drift where available <> 0 or held <> 0 or "openHolds" <> 0 order by "accountId"`);
    return rows;
}

/** Credits held over all accounts. */
export async function totalHeld(db: Db): Promise<number> {
    const [row] = await db('credit_accounts').sum<{ held: string | null }[]>({ held: 'held' });
    return Number(row?.held ?? 0);
}

/** An account's movements, newest first; `before` is the id of the last entry of the page before. */
export async function listEntries(db: Db, accountId: string, page: { limit: number; before?: number }): Promise<LedgerEntry[]> {
    return db('ledger_entries')
        .where({ account_id: accountId })
        .where('id', '<', page.before ?? Number.MAX_SAFE_INTEGER)
        .orderBy('id', 'desc')
        .limit(page.limit)
        .select(columns('', 'id', 'operation', 'kind', 'available_delta', 'held_delta', 'note', 'at'));
}
