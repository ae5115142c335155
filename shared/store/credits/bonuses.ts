import type { Db } from '../../db.ts';

/** Credits earned by activity (CONTRACT section 2, "Earned"). */
export interface Bonuses {
    /** With a user's first charged fetch. */
    firstFetch: number;
    /** To the inviter, with the invited user's first charged fetch. */
    referral: number;
    /** Referrals that earn something, per inviter and calendar month (UTC). */
    referralsAMonth: number;
    /** For the first contribution to a registrable domain. */
    contribution: number;
    /** Domains of an account whose contribution is paid at publishing; those of further ones wait for a verification run that passed. */
    contributionsAtOnce: number;
    /** Contributions that earn something, per account and calendar month (UTC). */
    contributionsAMonth: number;
}

export const BONUSES: Readonly<Bonuses> = {
    firstFetch: 50,
    referral: 100,
    referralsAMonth: 20,
    contribution: 50,
    contributionsAtOnce: 2,
    contributionsAMonth: 10,
};

/**
 * Gives an account credits that never expire, for an operator. Resolves with what is available then, or with undefined where
 * there is no such account. `note` stands in the ledger.
 */
export async function grantBonus(db: Db, accountId: string, credits: number, note: string): Promise<number | undefined> {
    if (!Number.isSafeInteger(credits) || credits < 1) throw new RangeError('a grant is a positive whole number of credits');
    const { rows } = await db.raw<{ rows: { available: number }[] }>(
        `with account as (
            update credit_accounts set bonus_available = bonus_available + ? where id = ?
            returning id, allowance_available + bonus_available as available
        ), entry as (
            insert into ledger_entries (account_id, kind, available_delta, held_delta, note, at)
            select id, 'bonus', ?::bigint, 0, ?, app_now() from account
        ) select available from account`,
        [credits, accountId, credits, note],
    );
    return rows[0]?.available;
}

/**
 * The bonus for publishing a schema, once per registrable domain and only to its first contributor: credits earned, 0 where
 * somebody was there before or the month's share is used up (then the domain earns nobody anything any more). Call it inside
 * the publishing transaction, last: it locks the account until the commit.
 */
export async function earnContribution(db: Db, accountId: string, domain: string): Promise<number> {
    const { rows } = await db.raw<{ rows: { earned: number }[] }>('select credits_earn_contribution(?, ?, ?, ?) as earned', [
        accountId,
        domain,
        BONUSES.contribution,
        BONUSES.contributionsAMonth,
    ]);
    return rows[0]?.earned ?? 0;
}

/**
 * The same for what is published now: paid for an account's first domains, owed for further ones until a verification run passed
 * (`payOwedContribution`). Credits earned, or `owed`. Publishes of one account follow one another, so that the count is exact.
 */
export async function earnOrOweContribution(db: Db, accountId: string, domain: string): Promise<number | 'owed'> {
    const { rows } = await db.raw<{ rows: [{ before: number }] }>(
        `select (select count(*) from earned_bonuses where kind = 'contribution' and beneficiary = :accountId)
              + (select count(*) from owed_contributions where account_id = :accountId) as before`,
        { accountId },
    );
    if (rows[0].before < BONUSES.contributionsAtOnce) return earnContribution(db, accountId, domain);
    await db.raw('insert into owed_contributions (registrable, account_id) values (?, ?) on conflict do nothing', [domain, accountId]);
    return 'owed';
}

/** Pays what is owed for a domain, once. Call it last in a transaction: it locks the account until the commit. */
export async function payOwedContribution(db: Db, domain: string): Promise<void> {
    const { rows } = await db.raw<{ rows: { account_id: string }[] }>(
        'delete from owed_contributions where registrable = ? returning account_id',
        [domain],
    );
    if (rows[0] !== undefined) await earnContribution(db, rows[0].account_id, domain);
}
