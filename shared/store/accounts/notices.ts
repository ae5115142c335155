import { newId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';

export type NoticeKind = 'allowance_80' | 'allowance_100' | 'failing' | 'payment_failed' | 'plan_ended';

export interface NewNotice {
    kind: NoticeKind;
    accountId: string;
    workspaceId?: string | undefined;
    /** The one user it concerns; otherwise it concerns those who manage the workspace. */
    userId?: string | undefined;
    /** The subject. A kind, account and subject have one notice at a time. */
    subject: string;
    facts: JsonObject;
}

export interface Notice {
    noticeId: string;
    kind: NoticeKind;
    facts: JsonObject;
    at: Date;
}

/** Creates a notice; false where it exists. Send a mail only where this is true, in the same transaction. */
export async function giveNotice(db: Db, notice: NewNotice): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `insert into notices (id, kind, account_id, workspace_id, user_id, subject, facts) values (?, ?, ?, ?, ?, ?, ?::jsonb)
         on conflict (account_id, kind, subject) where ended_at is null do nothing`,
        [
            newId('ntc'),
            notice.kind,
            notice.accountId,
            notice.workspaceId ?? null,
            notice.userId ?? null,
            notice.subject,
            JSON.stringify(notice.facts),
        ],
    );
    return rowCount === 1;
}

/** What a member sees of them: about the account that pays for the member here, the member's own keys, and for some the workspace. */
export async function listNotices(db: Db, { accountId, workspaceId, userId, seesKeys, seesPlans }: NoticeReader): Promise<Notice[]> {
    const { rows } = await db.raw<{ rows: { id: string; kind: NoticeKind; facts: JsonObject; at: Date }[] }>(
        `select n.id, n.kind, n.facts, n.at from notices n join credit_accounts c on c.id = n.account_id
         where n.ended_at is null and n.dismissed_at is null and n.at > app_now() - interval '35 days'
           and case when n.kind in ('allowance_80', 'allowance_100') then
                    n.account_id = :accountId and n.subject = 'period ' || c.period_number
                    and not (n.kind = 'allowance_80' and exists (
                        select from notices f where f.account_id = n.account_id and f.kind = 'allowance_100' and f.subject = n.subject))
                when n.kind = 'failing' then n.workspace_id = :workspaceId and (:seesKeys or n.user_id = :userId)
                else n.workspace_id = :workspaceId and :seesPlans end
         order by n.at desc, n.id limit 10`,
        { accountId, workspaceId, userId, seesKeys, seesPlans },
    );
    return rows.map((row) => ({ noticeId: row.id, kind: row.kind, facts: row.facts, at: row.at }));
}

export interface NoticeReader {
    accountId: string;
    workspaceId: string;
    userId: string;
    /** Those about other members' keys too. */
    seesKeys: boolean;
    /** Those about plan and payment too. */
    seesPlans: boolean;
}

/** Dismisses a notice, for every member who sees it. */
export async function dismissNotice(db: Db, noticeId: string): Promise<void> {
    await db.raw('update notices set dismissed_at = coalesce(dismissed_at, app_now()) where id = ?', [noticeId]);
}

/** What is no longer so: calls succeed again. Those given after `since` stay. */
export async function endNotice(
    db: Db,
    { accountId, kind, subject, since }: Pick<NewNotice, 'accountId' | 'kind' | 'subject'> & { since: Date },
): Promise<void> {
    await db.raw(
        'update notices set ended_at = app_now() where account_id = ? and kind = ? and subject = ? and ended_at is null and at < ?',
        [accountId, kind, subject, since],
    );
}

/** The same of every notice of this kind. */
export async function endNotices(db: Db, accountId: string, kind: NoticeKind): Promise<void> {
    await db.raw('update notices set ended_at = app_now() where account_id = ? and kind = ? and ended_at is null', [accountId, kind]);
}

/** Whether this notice exists and still holds. */
export async function isNoticed(db: Db, { accountId, kind, subject }: Pick<NewNotice, 'accountId' | 'kind' | 'subject'>): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>(
        'select from notices where account_id = ? and kind = ? and subject = ? and ended_at is null',
        [accountId, kind, subject],
    );
    return rows.length > 0;
}

/** The addresses of an account: the user's own, or of those who see to the workspace's payment. */
export async function payersOf(db: Db, accountId: string): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { email: string }[] }>(
        `select u.email from users u where u.deleted_at is null and (u.id = :accountId or exists (
             select from memberships m where m.user_id = u.id and m.workspace_id = :accountId and m.role in ('owner', 'billing')))
         order by u.id`,
        { accountId },
    );
    return rows.map(({ email }) => email);
}

/** Forgets notices that nobody is shown any more. */
export async function forgetNotices(db: Db): Promise<void> {
    await db.raw("delete from notices where at < app_now() - interval '100 days'");
}
