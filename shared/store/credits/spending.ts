import type { Db } from '../../platform/db.ts';

/** A cap that an account set itself: credits a day (UTC), for all of it or for one key. */
interface Cap {
    /** Null: none. */
    cap: number | null;
    /** Spent today, or held by calls in flight; 0 where nothing was counted yet. */
    spent: number;
}

/** The highest cap, in whole credits. */
export const MOST_CAP = 1_000_000;

/** Daily cap of an account and today's spending. */
export async function accountCap(db: Db, accountId: string): Promise<Cap> {
    return readCap(db, 'credit_accounts', accountId);
}

/** Daily cap of a key and today's spending. */
export async function keyCap(db: Db, keyId: string): Promise<Cap> {
    return readCap(db, 'api_keys', keyId);
}

/** Sets an account's cap, or none; it holds for the next call, and counts what was spent today already. */
export async function setAccountCap(db: Db, accountId: string, cap: number | null): Promise<void> {
    await setCap(db, 'credit_accounts', accountId, cap);
}

/** Sets a key's cap, or none; it holds for calls that begin a second later, and counts what was spent today already. */
export async function setKeyCap(db: Db, keyId: string, cap: number | null): Promise<void> {
    await setCap(db, 'api_keys', keyId, cap);
}

/** Forgets days that are over. */
export async function forgetSpending(db: Db): Promise<void> {
    await db('day_spending')
        .where('day', '<', db.raw(`${TODAY} - 1`))
        .delete();
}

const TODAY = "(app_now() at time zone 'UTC')::date";

async function readCap(db: Db, table: 'credit_accounts' | 'api_keys', id: string): Promise<Cap> {
    const spent = db('day_spending')
        .where({ subject: id, day: db.raw(TODAY) })
        .select('spent');
    const found: Cap | undefined = await db(table).where({ id }).first({ cap: 'day_cap', spent });
    return { cap: found?.cap ?? null, spent: found?.spent ?? 0 };
}

/** The next hold counts today's spending from the ledger again, unless there was a cap all day. */
async function setCap(db: Db, table: 'credit_accounts' | 'api_keys', id: string, cap: number | null): Promise<void> {
    await db.transaction(async (trx) => {
        const before: { day_cap: number | null } | undefined = await trx(table).where({ id }).forUpdate().first('day_cap');
        await trx(table).where({ id }).update({ day_cap: cap });
        if (cap === null || before?.day_cap === null) await trx('day_spending').where({ subject: id }).delete();
    });
}
