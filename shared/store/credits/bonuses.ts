import { countRows, type Db, now } from '../../platform/db.ts';

/** Credits earned by activity (docs/billing.md). */
interface Bonuses {
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
 * there is no such account. `note` is kept in the ledger.
 */
export async function grantBonus(db: Db, accountId: string, credits: number, note: string): Promise<number | undefined> {
    if (!Number.isSafeInteger(credits) || credits < 1) throw new RangeError('a grant is a positive whole number of credits');
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
 * The bonus for publishing a schema, once per registrable domain and only to its first contributor: credits earned, 0 where
 * somebody was there before or the month's share is used up (then the domain earns nobody anything any more). Call it inside
 * the publishing transaction, last: it locks the account until the commit.
 */
export async function earnContribution(db: Db, accountId: string, domain: string): Promise<number> {
    const terms = [accountId, domain, BONUSES.contribution, BONUSES.contributionsAMonth];
    const { earned } = await db.first<{ earned: number }>(db.raw('credits_earn_contribution(?, ?, ?, ?) as earned', terms));
    return earned;
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

/**
 * Says of a site's latest version whether the next charged call by another account pays what is owed for the domain: it does where
 * nothing of the package can be verified. Nothing happens where nothing is owed.
 */
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

/** Pays what is owed for a domain, once. Call it last in a transaction: it locks the account until the commit. */
export async function payOwedContribution(db: Db, domain: string): Promise<void> {
    const [owed] = await db('owed_contributions').where({ registrable: domain }).delete(['account_id', 'credits', 'a_month']);
    if (owed === undefined) return;
    await db.first(db.raw('credits_earn_contribution(?, ?, ?, ?)', [owed.account_id, domain, owed.credits, owed.a_month]));
}

/**
 * Takes back what the schema of a domain earned, once, at most what is left of the bonus; what is owed for it is never paid. Credits
 * taken, 0 the second time. Call it last in a transaction that has locked the domain.
 */
export async function reclaimContribution(db: Db, domain: string): Promise<number> {
    const { credits } = await db.first<{ credits: number }>(db.raw('credits_reclaim(?) as credits', [domain]));
    return credits;
}
