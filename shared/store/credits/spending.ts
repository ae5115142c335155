import type { Db } from '../../platform/db.ts';

/** A daily (UTC) spending cap that an account set, for all of its calls or for one key. */
interface Cap {
    /** Credits; null: no cap. */
    cap: number | null;
    /** Credits spent today or held by running calls; 0 if nothing has been counted yet. */
    spent: number;
}

/** Maximum of a cap, in whole credits. */
export const MAX_CAP = 1_000_000;

export async function accountCap(db: Db, accountId: string): Promise<Cap> {
    return readCap(db, 'credit_accounts', accountId);
}

export async function keyCap(db: Db, keyId: string): Promise<Cap> {
    return readCap(db, 'api_keys', keyId);
}

/** Sets or removes the cap of an account. It applies to the next call. Today's earlier spending counts. */
export async function setAccountCap(db: Db, accountId: string, cap: number | null): Promise<void> {
    await setCap(db, 'credit_accounts', accountId, cap);
}

/** Sets or removes the cap of a key. It applies to calls that begin at least a second later. Today's earlier spending counts. */
export async function setKeyCap(db: Db, keyId: string, cap: number | null): Promise<void> {
    await setCap(db, 'api_keys', keyId, cap);
}

const TODAY = "(app_now() at time zone 'UTC')::date";

async function readCap(db: Db, table: 'credit_accounts' | 'api_keys', id: string): Promise<Cap> {
    const spent = db('day_spending')
        .where({ subject: id, day: db.raw(TODAY) })
        .select('spent');
    const found: Cap | undefined = await db(table).where({ id }).first({ cap: 'day_cap', spent });
    return { cap: found?.cap ?? null, spent: found?.spent ?? 0 };
}

/** The next hold recounts today's spending from the ledger, unless the cap was set for the whole day. */
async function setCap(db: Db, table: 'credit_accounts' | 'api_keys', id: string, cap: number | null): Promise<void> {
    await db.transaction(async (trx) => {
        const before: { day_cap: number | null } | undefined = await trx(table).where({ id }).forUpdate().first('day_cap');
        await trx(table).where({ id }).update({ day_cap: cap });
        if (cap === null || before?.day_cap === null) await trx('day_spending').where({ subject: id }).delete();
    });
}
