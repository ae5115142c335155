import type { Db } from '../../platform/db.ts';

/** A cap that an account set itself: credits a day (UTC), for all of it or for one key. */
export interface Cap {
    /** Null: none. */
    cap: number | null;
    /** Spent today, or held by calls in flight; 0 where nothing was counted yet. */
    spent: number;
}

/** The highest cap, in whole credits. */
export const MOST_CAP = 1_000_000;

/** What an account may spend a day, and has. */
export async function accountCap(db: Db, accountId: string): Promise<Cap> {
    return readCap(db, 'credit_accounts', accountId);
}

/** What a key may spend a day, and has. */
export async function keyCap(db: Db, keyId: string): Promise<Cap> {
    return readCap(db, 'api_keys', keyId);
}

/** Sets an account's cap, or none; it holds for calls that begin a second later, and counts what was spent today already. */
export async function setAccountCap(db: Db, accountId: string, cap: number | null): Promise<void> {
    await setCap(db, 'credit_accounts', accountId, cap);
}

/** The same of one key. */
export async function setKeyCap(db: Db, keyId: string, cap: number | null): Promise<void> {
    await setCap(db, 'api_keys', keyId, cap);
}

/** Forgets days that are over. */
export async function forgetSpending(db: Db): Promise<void> {
    await db.raw("delete from day_spending where day < (app_now() at time zone 'UTC')::date - 1");
}

type Table = 'credit_accounts' | 'api_keys';

async function readCap(db: Db, table: Table, id: string): Promise<Cap> {
    const { rows } = await db.raw<{ rows: { day_cap: number | null; spent: number | null }[] }>(
        `select c.day_cap, d.spent from ${table} c
         left join day_spending d on d.subject = c.id and d.day = (app_now() at time zone 'UTC')::date where c.id = ?`,
        [id],
    );
    return { cap: rows[0]?.day_cap ?? null, spent: rows[0]?.spent ?? 0 };
}

/** The next hold counts today's spending from the ledger again, unless there was a cap all day. */
async function setCap(db: Db, table: Table, id: string, cap: number | null): Promise<void> {
    await db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: { day_cap: number | null }[] }>(`select day_cap from ${table} where id = ? for update`, [
            id,
        ]);
        await trx.raw(`update ${table} set day_cap = ? where id = ?`, [cap, id]);
        if (cap === null || rows[0]?.day_cap === null) await trx.raw('delete from day_spending where subject = ?', [id]);
    });
}
