import { newId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import { ago, type Columns, columns, type Db, now, orNow, toColumns } from '../../platform/db.ts';

/** `credits_…` notices are not displayed. Each becomes an event, once a period. */
type NoticeKind = 'allowance_80' | 'allowance_100' | 'failing' | 'payment_failed' | 'plan_ended' | 'credits_low' | 'credits_exhausted';

interface NewNotice {
    kind: NoticeKind;
    accountId: string;
    workspaceId?: string | undefined;
    /** The only user whom the notice concerns; absent: it concerns all managers of the workspace. */
    userId?: string | undefined;
    /** The subject. There is at most one active notice of a kind, account and subject. */
    subject: string;
    facts: JsonObject;
}

/** Identifies a notice. At most one such notice is active. */
type NoticeName = Pick<NewNotice, 'accountId' | 'kind' | 'subject'>;

export interface Notice {
    noticeId: string;
    kind: NoticeKind;
    facts: JsonObject;
    at: Date;
}

/** Creates a notice; false if it already exists. Send a mail only if the result is true, in the same transaction. */
export async function createNotice(db: Db, notice: NewNotice): Promise<boolean> {
    const created = await db('notices')
        .insert({ ...toColumns(notice), id: newId('ntc'), facts: JSON.stringify(notice.facts) })
        .onConflict(db.raw('(account_id, kind, subject) where ended_at is null'))
        .ignore()
        .returning('id');
    return created.length === 1;
}

interface NoticeReader {
    accountId: string;
    workspaceId: string;
    userId: string;
    /** Whether the member also sees notices about the keys of other members. */
    seesKeys: boolean;
    /** Whether the member also sees notices about plan and payment. */
    seesPlans: boolean;
}

/** Notices of the paying account, of the member's own keys and, for some roles, of the workspace. */
export async function listNotices(db: Db, { accountId, workspaceId, userId, seesKeys, seesPlans }: NoticeReader): Promise<Notice[]> {
    const notice: Columns<Notice> = { noticeId: 'n.id', kind: 'n.kind', facts: 'n.facts', at: 'n.at' };
    const usedUp = db('notices as f')
        .whereRaw('f.account_id = n.account_id and f.subject = n.subject')
        .where({ 'f.kind': 'allowance_100' });
    return db('notices as n')
        .join('credit_accounts as c', 'c.id', 'n.account_id')
        .where({ 'n.ended_at': null, 'n.dismissed_at': null })
        .where('n.at', '>', ago(db, '35 days'))
        .where((is) => {
            is.where((allowance) =>
                allowance
                    .where({ 'n.account_id': accountId })
                    .whereIn('n.kind', ['allowance_80', 'allowance_100'])
                    .whereRaw("n.subject = 'period ' || c.period_number")
                    .where((one) => one.where({ 'n.kind': 'allowance_100' }).orWhereNotExists(usedUp.select('f.id'))),
            );
            is.orWhere({ 'n.workspace_id': workspaceId, 'n.kind': 'failing', ...(!seesKeys && { 'n.user_id': userId }) });
            if (seesPlans) is.orWhere({ 'n.workspace_id': workspaceId }).whereIn('n.kind', ['payment_failed', 'plan_ended']);
        })
        .orderBy([{ column: 'n.at', order: 'desc' }, 'n.id'])
        .limit(10)
        .select(notice);
}

/** Dismisses a notice, for every member who sees it. */
export async function dismissNotice(db: Db, noticeId: string): Promise<void> {
    await db('notices')
        .where({ id: noticeId })
        .update({ dismissed_at: orNow(db, 'dismissed_at') });
}

/** Ends a notice, unless it was created after `since`. */
export async function endNotice(db: Db, { since, ...name }: NoticeName & { since: Date }): Promise<void> {
    await queryNotice(db, name)
        .where('at', '<', since)
        .update({ ended_at: now(db) });
}

export async function endNotices(db: Db, accountId: string, kind: NoticeKind): Promise<void> {
    await db('notices')
        .where({ account_id: accountId, kind, ended_at: null })
        .update({ ended_at: now(db) });
}

/** Whether this notice exists and still applies. */
export async function hasNotice(db: Db, name: NoticeName): Promise<boolean> {
    return (await queryNotice(db, name).first('id')) !== undefined;
}

function queryNotice(db: Db, { accountId, kind, subject }: NoticeName) {
    return db('notices').where({ account_id: accountId, kind, subject, ended_at: null });
}

/** The mail addresses of an account: that of the user, or those of the members who manage the payment of the workspace. */
export async function payerEmails(db: Db, accountId: string): Promise<string[]> {
    const payers = db('memberships').where({ workspace_id: accountId }).whereIn('role', ['owner', 'billing']).select('user_id');
    return db('users')
        .whereNull('deleted_at')
        .where((is) => is.where({ id: accountId }).orWhereIn('id', payers))
        .orderBy('id')
        .pluck('email');
}

/** Number of consecutive failed calls of one endpoint with one key after which the owner gets a notice. */
export const FAILURES = 50;

/** One process examines the log every 15 s, back to the last hour at most. Rows are written late, so periods overlap by 30 s. */
const CLAIM_EXAMINATION = `
    with before as (
        select looked_at from notice_watch where looked_at <= app_now() - interval '15 seconds' for update skip locked
    )
    update notice_watch set looked_at = app_now() from before
    returning greatest(before.looked_at - interval '30 seconds', app_now() - interval '1 hour') as since`;

/** Returns since when to examine the request log; undefined if another process has just done it. */
export async function claimExamination(db: Db): Promise<Date | undefined> {
    const { rows } = await db.raw<{ rows: { since: Date }[] }>(CLAIM_EXAMINATION);
    return rows[0]?.since;
}

export interface Spent {
    accountId: string;
    plan: string;
    limit: number;
    left: number;
    bonus: number;
    period: string;
    resetsAt: Date;
}

/** Accounts that have been charged since then and have at most a fifth of their allowance left. Held credits do not count as spent. */
export async function findNearlySpent(db: Db, since: Date): Promise<Spent[]> {
    const spent: Columns<Spent> = {
        accountId: 'id',
        plan: 'plan',
        limit: 'allowance',
        left: db.raw('allowance_available + held'),
        bonus: 'bonus_available',
        period: db.raw("'period ' || period_number"),
        resetsAt: db.raw('coalesce(billing_date, resets_at)'),
    };
    return db('credit_accounts')
        .whereIn('id', db('usage').where('at', '>=', since).where('credits', '>', 0).distinct('account_id'))
        .where('allowance', '>', 0)
        .whereRaw('(allowance_available + held) * 5 <= allowance')
        .where('resets_at', '>', now(db))
        .where('resets_at', '<', 'infinity')
        .orderBy('id')
        .select(spent);
}

/** Calls of one endpoint with one key. */
export interface Streak {
    accountId: string;
    workspaceId: string;
    userId: string;
    keyId: string;
    site: string;
    endpoint: string;
    lastSuccess: Date | null;
    /** Whether the latest call failed. */
    isFailing: boolean;
}

/** The calls since then, grouped by endpoint and key. */
export async function recentStreaks(db: Db, since: Date): Promise<Streak[]> {
    const streak = columns('', 'account_id workspace_id user_id key_id site endpoint');
    const lastSuccess = db.raw("max(at) filter (where outcome = 'success')");
    const read: Columns<Streak> = { ...streak, lastSuccess, isFailing: db.raw('coalesce(max(at) > ?, true)', [lastSuccess]) };
    return db('usage')
        .where('at', '>=', since)
        .where({ kind: 'fetch' })
        .whereNotNull('key_id')
        .whereNotNull('endpoint')
        .groupBy(Object.values(streak))
        .select(read);
}

/** The most frequent error code of the last calls, if all of them failed; undefined if one succeeded or there are too few calls. */
export async function failedWith(db: Db, { accountId, keyId, site, endpoint }: Streak): Promise<string | undefined> {
    const last = db('usage')
        .where({ account_id: accountId, key_id: keyId, site, endpoint, kind: 'fetch' })
        .where('at', '>', ago(db, '7 days'))
        .orderBy([
            { column: 'at', order: 'desc' },
            { column: 'id', order: 'desc' },
        ])
        .limit(FAILURES)
        .select('outcome');
    const failed = await db
        .from(last.as('last'))
        .havingRaw("count(*) = ? and bool_and(outcome <> 'success')", [FAILURES])
        .first({ code: db.raw('mode() within group (order by outcome)') });
    return failed?.code;
}

/** The name of a key and the mail address of its owner; undefined if either no longer exists. */
export async function keyOwner(db: Db, keyId: string): Promise<{ name: string; email: string } | undefined> {
    return db('api_keys as k')
        .join('users as u', 'u.id', 'k.user_id')
        .where({ 'k.id': keyId, 'u.deleted_at': null })
        .first('k.name', 'u.email');
}
