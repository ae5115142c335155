import type { Db } from '../../platform/db.ts';

/** An account whose books do not agree: by how much each sum is off (0 where it is right). */
export interface Drift {
    accountId: string;
    /** allowance and bonus available, minus what the ledger's entries sum to. */
    available: number;
    /** held, minus what the ledger's entries sum to. */
    held: number;
    /** held, minus what the open holds sum to. */
    openHolds: number;
}

export interface LedgerEntry {
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
    const { rows } = await db.raw<{ rows: DriftRow[] }>(`
        with entries as (
            select account_id as id, sum(available_delta)::bigint as available, sum(held_delta)::bigint as held
            from ledger_entries group by account_id
        ), open as (
            select account_id as id, sum(amount)::bigint as amount from holds where state in ('held', 'sent') group by account_id
        ), drift as (
            select coalesce(c.id, e.id, o.id) as id,
                   coalesce(c.allowance_available + c.bonus_available, 0) - coalesce(e.available, 0) as available,
                   coalesce(c.held, 0) - coalesce(e.held, 0) as held,
                   coalesce(c.held, 0) - coalesce(o.amount, 0) as open_holds
            from credit_accounts c full join entries e on e.id = c.id full join open o on o.id = coalesce(c.id, e.id)
        )
        select * from drift where available <> 0 or held <> 0 or open_holds <> 0 order by id`);
    return rows.map((row) => ({ accountId: row.id, available: row.available, held: row.held, openHolds: row.open_holds }));
}

/** Credits held over all accounts. */
export async function totalHeld(db: Db): Promise<number> {
    const { rows } = await db.raw<{ rows: { held: number }[] }>('select coalesce(sum(held), 0)::bigint as held from credit_accounts');
    return rows[0]?.held ?? 0;
}

/** An account's movements, newest first; `before` is the id of the last entry of the page before. */
export async function listEntries(db: Db, accountId: string, page: { limit: number; before?: number }): Promise<LedgerEntry[]> {
    const { rows } = await db.raw<{ rows: EntryRow[] }>(
        `select id, operation, kind, available_delta, held_delta, note, at from ledger_entries
         where account_id = ? and id < ? order by id desc limit ?`,
        [accountId, page.before ?? Number.MAX_SAFE_INTEGER, page.limit],
    );
    return rows.map((row) => ({
        id: row.id,
        operation: row.operation,
        kind: row.kind,
        availableDelta: row.available_delta,
        heldDelta: row.held_delta,
        note: row.note,
        at: row.at,
    }));
}

interface DriftRow {
    id: string;
    available: number;
    held: number;
    open_holds: number;
}

interface EntryRow {
    id: number;
    operation: string | null;
    kind: string;
    available_delta: number;
    held_delta: number;
    note: string | null;
    at: Date;
}
