import { randomBase62 } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';

/** The code of a user's personal invitation link. Anybody may use it, and it does not change. */
export async function inviteCode(db: Db, userId: string): Promise<string> {
    const [user] = await db('users')
        .where({ id: userId })
        .update({ invite_code: db.raw('coalesce(invite_code, ?)', [randomBase62(12)]) })
        .returning('invite_code');
    return user.invite_code;
}

/** The user whose code it is; undefined for an unknown code and for suspended or deleted users. */
export async function findInviter(db: Db, code: string): Promise<string | undefined> {
    const user = await db('users').where({ invite_code: code, suspended_at: null, deleted_at: null }).first('id');
    return user?.id;
}

interface Referrals {
    /** Number of people who signed up with the user's link. */
    invited: number;
    /** Number of those who made a charged fetch. */
    started: number;
    /** Number of those who earn nothing, because too many people signed up from the same range of addresses or mail domain on that day. */
    uncounted: number;
    /** Permanent credits that the user earned by these people. */
    earned: number;
    /** Number of paid referrals in this calendar month (UTC). */
    earnedThisMonth: number;
}

/** Counts the invited people of a user and the credits earned by them. */
export async function countReferrals(db: Db, userId: string): Promise<Referrals> {
    const invited = () => db('users').where({ invited_by: userId }).count();
    const bonuses = () => db('earned_bonuses').where({ kind: 'referral', beneficiary: userId });
    return db.queryBuilder().first({
        invited: invited(),
        started: invited().whereNotNull('first_charged_at'),
        uncounted: invited().where({ earns_inviter: false }),
        earned: bonuses().select(db.raw('coalesce(sum(credits), 0)::bigint')),
        earnedThisMonth: bonuses().where('credits', '>', 0).where('at', '>=', db.raw('credit_month_of(app_now())')).count(),
    });
}
