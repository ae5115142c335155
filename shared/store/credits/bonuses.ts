import type { Db } from '../../platform/db.ts';

/** Credits earned by activity (docs/billing.md). */
export interface Bonuses {
    /** With a user's first charged fetch. */
    firstFetch: number;
    /** To the inviter, with the invited user's charged fetch on a second day (UTC). */
    referral: number;
    /** Referrals that earn something, per inviter and calendar month (UTC). */
    referralsAMonth: number;
    /** For the first contribution to a registrable domain. */
    contribution: number;
    /** Domains of an account whose contribution is paid at publishing; those of further ones are owed. */
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
 * The same for what is published now: paid for an account's first domains, owed for further ones (`payOwedContribution`, `awaitCalls`).
 * Credits earned, or `owed`. Publishes of one account follow one another, so that the count is exact; domains that were published
 * before the plan changed count too.
 */
export async function earnOrOweContribution(
    db: Db,
    { accountId, userId }: { accountId: string; userId: string },
    domain: string,
): Promise<number | 'owed'> {
    const { rows } = await db.raw<{ rows: [{ before: number }] }>(
        `with own as materialized (select id from credit_accounts where id = :accountId or moved_to = :accountId)
         select (select count(*) from earned_bonuses where kind = 'contribution' and beneficiary in (select id from own))
              + (select count(*) from owed_contributions where account_id in (select id from own)) as before`,
        { accountId },
    );
    if (rows[0].before < BONUSES.contributionsAtOnce) return earnContribution(db, accountId, domain);
    await db.raw(
        `insert into owed_contributions (registrable, account_id, published_by, credits, a_month) values (?, ?, ?, ?, ?)
         on conflict do nothing`,
        [domain, accountId, userId, BONUSES.contribution, BONUSES.contributionsAMonth],
    );
    return 'owed';
}

/**
 * Says of a site's latest version whether the next charged call by another account pays what is owed for the domain: it does where
 * nothing of the package can be verified. Nothing happens where nothing is owed.
 */
export async function awaitCalls(db: Db, domain: string, { site, isVerifiable }: { site: string; isVerifiable: boolean }): Promise<void> {
    if (isVerifiable) {
        await db.raw('delete from contributions_by_call where site = ?', [site]);
        return;
    }
    await db.raw(
        `insert into contributions_by_call (site, registrable, account_id)
         select ?, registrable, account_id from owed_contributions where registrable = ? for update
         on conflict do nothing`,
        [site, domain],
    );
}

/** Pays what is owed for a domain, once. Call it last in a transaction: it locks the account until the commit. */
export async function payOwedContribution(db: Db, domain: string): Promise<void> {
    await db.raw(
        `with owed as materialized (delete from owed_contributions where registrable = ? returning registrable, account_id, credits, a_month)
         select credits_earn_contribution(account_id, registrable, credits, a_month) from owed`,
        [domain],
    );
}

/**
 * Takes back what the schema of a domain earned, once, at most what is left of the bonus; what is owed for it is never paid. Credits
 * taken, 0 the second time. Call it last in a transaction that has locked the domain.
 */
export async function reclaimContribution(db: Db, domain: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ credits: number }] }>('select credits_reclaim(?) as credits', [domain]);
    return rows[0].credits;
}
