import type { Db } from '../db.ts';

/** Something that the owners of a workspace are mailed. */
export interface News {
    workspaceId: string;
    /** News of one topic share a mail, at most one an hour; without a topic they have a mail of their own, at once. */
    topic?: string;
    subject: string;
    line: string;
    /** The mail brings the link that stops this removal. */
    removalId?: string;
}

/** Has the owners of a workspace mailed; call it in the transaction that is the reason for it. */
export async function tellOwners(db: Db, { workspaceId, topic, subject, line, removalId }: News): Promise<void> {
    await db.raw('insert into workspace_news (workspace_id, topic, subject, line, removal_id) values (?, ?, ?, ?, ?)', [
        workspaceId,
        topic ?? null,
        subject,
        line,
        removalId ?? null,
    ]);
}

/** One mail to the owners of a workspace. */
export interface NewsMail {
    recipients: string[];
    subject: string;
    lines: string[];
    removalId: string | null;
}

/** News that no mail would hold any more, where an hour brought more of them. */
const MOST_LINES = 100;

/**
 * Takes the news of one mail that may go out now; undefined where there is none. Call it in the transaction that queues the mail: of
 * several processes one gets it, and the others find nothing meanwhile.
 */
export async function takeNews(trx: Db): Promise<NewsMail | undefined> {
    const { rows: locks } = await trx.raw<{ rows: [{ got: boolean }] }>(
        "select pg_try_advisory_xact_lock(hashtextextended('workspace news', 0)) as got",
    );
    if (!locks[0].got) return undefined;
    const { rows } = await trx.raw<{
        rows: { workspace_id: string; subject: string; lines: string[]; count: number; removal_id: string | null }[];
    }>(
        `with due as (
             select n.id, n.workspace_id, n.topic from workspace_news n
             where n.mailed_at is null and (n.topic is null or not exists (
                 select from workspace_news m where m.workspace_id = n.workspace_id and m.topic = n.topic
                     and m.mailed_at > app_now() - interval '1 hour'))
             order by n.id limit 1
         ), taken as (
             update workspace_news n set mailed_at = app_now() from due
             where n.id = due.id or (n.workspace_id = due.workspace_id and n.topic = due.topic and n.mailed_at is null)
             returning n.*
         )
         select workspace_id, (array_agg(subject order by id))[1] as subject, (array_agg(line order by id))[1:${MOST_LINES}] as lines,
                count(*) as count, max(removal_id) as removal_id
         from taken group by workspace_id`,
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    const more = row.count - row.lines.length;
    return {
        recipients: await ownersOfWorkspace(trx, row.workspace_id),
        subject: row.subject,
        lines: more > 0 ? [...row.lines, `and ${more} more`] : row.lines,
        removalId: row.removal_id,
    };
}

/** Forgets what was mailed. */
export async function forgetNews(db: Db): Promise<void> {
    await db.raw("delete from workspace_news where mailed_at < app_now() - interval '1 day'");
}

/** Those who confirmed their address: any other may be a stranger's. */
async function ownersOfWorkspace(db: Db, workspaceId: string): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { email: string }[] }>(
        `select u.email from memberships m join users u on u.id = m.user_id
         where m.workspace_id = ? and m.role = 'owner' and u.deleted_at is null and u.verified_at is not null order by u.id`,
        [workspaceId],
    );
    return rows.map(({ email }) => email);
}
