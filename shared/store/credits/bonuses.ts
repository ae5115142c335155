import { countRows, type Db, now } from '../../platform/db.ts';

/** Credits that users earn by activity (docs/billing.md). */
export const BONUSES = {
    /** For the first charged fetch of a user. */
    firstFetch: 50,
    /** For the inviter, when the invited user makes a charged fetch on a second day (UTC). */
    referral: 100,
    /** Maximum number of paid referrals per inviter and calendar month (UTC). */
    referralsAMonth: 20,
    /** For the first contribution to a registrable domain. */
    contribution: 50,
    /** Number of an account's domains whose contribution is paid at publishing. The contributions of further domains are owed. */
    contributionsAtOnce: 2,
    /** Maximum number of paid contributions per account and calendar month (UTC). */
    contributionsAMonth: 10,
} as const;

/** Gives credits that never expire, for an operator. Resolves with the available credits; undefined for an unknown account. */
export async function grantBonus(db: Db, accountId: string, credits: number, note: string): Promise<number | undefined> {
    if (!Number.isSafeInteger(credits) || credits < 1) throw new RangeError('a grant must be a positive whole number of credits');
    return db.transaction(async (trx) => {
        const [account] = await trx('credit_accounts')
            .where({ id: accountId })
            .increment('bonus_available', credits)
            .returning<{ available: number }[]>(trx.raw('allowance_available + bonus_available as available'));
        if (account === undefined) return undefined;
        const entry = { account_id: accountId, kind: 'bonus', available_delta: credits, held_delta: 0, note, at: now(trx) };
        await trx('ledger_entries').insert(entry);
        return account.available;
    });
}

/**
 * Pays the bonus for publishing a schema. It is paid once per registrable domain, to its first contributor only. Returns the credits
 * earned: 0 if another account contributed first or the monthly maximum is reached. In the latter case nobody can earn this domain's bonus
 * any more. Call it last in the publishing transaction, because it locks the account until the commit.
 */
export async function earnContribution(db: Db, accountId: string, domain: string): Promise<number> {
    const terms = [accountId, domain, BONUSES.contribution, BONUSES.contributionsAMonth];
    const { earned } = await db.first<{ earned: number }>(db.raw('credits_earn_contribution(?, ?, ?, ?) as earned', terms));
    return earned;
}

/**
 * Like `earnContribution`, for a package that is published now. The bonus is paid for the first domains of an account and owed for further
 * ones (`payOwedContribution`, `awaitCalls`). Returns the credits earned, or `owed`. Publishes of one account run one after another, so
 * that the count is exact. Domains that were published before the plan changed count too.
 */
export async function earnOrOweContribution(
    db: Db,
    { accountId, userId }: { accountId: string; userId: string },
    domain: string,
): Promise<number | 'owed'> {
    const own = db('credit_accounts').where({ id: accountId }).orWhere({ moved_to: accountId }).select('id');
    const earned = await countRows(db('earned_bonuses').where({ kind: 'contribution' }).whereIn('beneficiary', own));
    const owed = await countRows(db('owed_contributions').whereIn('account_id', own));
    if (earned + owed < BONUSES.contributionsAtOnce) return earnContribution(db, accountId, domain);
    const debt = { registrable: domain, account_id: accountId, published_by: userId };
    await db('owed_contributions')
        .insert({ ...debt, credits: BONUSES.contribution, a_month: BONUSES.contributionsAMonth })
        .onConflict()
        .ignore();
    return 'owed';
}

/** Whether the next charged call by another account pays an owed bonus: if no part of the latest version can be verified. */
export async function awaitCalls(db: Db, domain: string, { site, isVerifiable }: { site: string; isVerifiable: boolean }): Promise<void> {
    if (isVerifiable) {
        await db('contributions_by_call').where({ site }).delete();
        return;
    }
    const owed = db('owed_contributions')
        .where({ registrable: domain })
        .forUpdate()
        .select({ site: db.raw('?::text', [site]) });
    await db(db.raw('contributions_by_call (site, registrable, account_id)'))
        .insert(owed.select('registrable', 'account_id'))
        .onConflict()
        .ignore();
}

/** Pays the owed bonus of a domain, once. Call it last in a transaction, because it locks the account until the commit. */
export async function payOwedContribution(db: Db, domain: string): Promise<void> {
    const [owed] = await db('owed_contributions').where({ registrable: domain }).delete(['account_id', 'credits', 'a_month']);
    if (owed === undefined) return;
    await db.first(db.raw('credits_earn_contribution(?, ?, ?, ?)', [owed.account_id, domain, owed.credits, owed.a_month]));
}

/**
 * Takes back the bonus that the schema of a domain earned, once, and at most the remaining bonus of the account. An owed bonus is never
 * paid afterwards. Returns the credits taken, 0 the second time. Call it last in a transaction that has locked the domain.
 */
export async function reclaimContribution(db: Db, domain: string): Promise<number> {
    const { credits } = await db.first<{ credits: number }>(db.raw('credits_reclaim(?) as credits', [domain]));
    return credits;
}
