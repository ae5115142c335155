import type { Db } from '../../platform/db.ts';

/** An account whose balance does not match its ledger. Each field is the difference of one sum; 0: the sum is right. */
interface Drift {
    accountId: string;
    /** Available allowance and bonus, minus the sum of the ledger entries. */
    available: number;
    /** Held credits, minus the sum of the ledger entries. */
    held: number;
    /** Held credits, minus the sum of the open holds. */
    openHolds: number;
}

/** Accounts whose ledger or open holds do not sum to their balance. One statement, so it is right under load too. */
export async function checkLedger(db: Db): Promise<Drift[]> {
    const { rows } = await db.raw<{ rows: Drift[] }>(`
        with entries as (
            select account_id as id, sum(available_delta)::bigint as available, sum(held_delta)::bigint as held
            from ledger_entries group by account_id
        ), open as (
            select account_id as id, sum(amount - parts_ended)::bigint as amount from holds where state in ('held', 'sent') group by account_id
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

export async function totalHeld(db: Db): Promise<number> {
    const [row] = await db('credit_accounts').sum<{ held: string | null }[]>({ held: 'held' });
    return Number(row?.held ?? 0);
}
