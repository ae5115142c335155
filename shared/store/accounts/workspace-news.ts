import { type Db, toColumns } from '../../platform/db.ts';

interface News {
    workspaceId: string;
    /** A registrable domain, or another subject. News about the same one share a mail. At most one such mail is sent per hour. */
    domain: string;
    /** News with the same topic also share a mail, regardless of their domains. */
    topic?: 'added' | 'reported';
    subject: string;
    line: string;
    /** The mail contains the link that stops this removal. */
    removalId?: string;
}

/** Queues news for the owners of a workspace. Call it in the transaction that causes the news. */
export async function notifyOwners(db: Db, news: News): Promise<void> {
    await db('workspace_news').insert({ topic: news.domain, ...toColumns(news) });
}

export interface NewsMail {
    recipients: string[];
    subject: string;
    lines: string[];
    removalId: string | null;
}

/** Maximum number of lines in one mail. More news may arrive within an hour. */
const MAX_LINES = 100;

/** True if a row `n` waits, and its workspace had no mail with the same topic or about the same domain in the last hour. */
const MAY_GO = `n.mailed_at is null and not exists (
    select from workspace_news m where m.workspace_id = n.workspace_id and (m.topic = n.topic or m.domain = n.domain)
        and m.mailed_at > app_now() - interval '1 hour')`;

/** Selects the oldest waiting row, and the rows that share its topic or domain. Uses the newest link of a removal. */
const TAKE_NEWS = `
    with due as (
        select n.id, n.workspace_id, n.topic, n.domain from workspace_news n where ${MAY_GO} order by n.id limit 1
    ), taken as (
        update workspace_news n set mailed_at = app_now() from due
        where n.workspace_id = due.workspace_id and (n.id = due.id or n.topic = due.topic or n.domain = due.domain) and ${MAY_GO}
        returning n.*
    )
    select workspace_id, (array_agg(subject order by removal_id is null, id desc))[1] as subject, count(distinct subject) as subjects,
           (array_agg(line order by removal_id is null, id))[1:${MAX_LINES}] as lines, count(*) as count,
           (array_agg(removal_id order by id desc) filter (where removal_id is not null))[1] as removal_id
    from taken group by workspace_id`;

/** Takes the news of one mail, for one process; undefined if none may go now. Call it in the transaction that queues the mail. */
export async function takeNews(trx: Db): Promise<NewsMail | undefined> {
    const lock = await trx.first<{ got: boolean }>(trx.raw("pg_try_advisory_xact_lock(hashtextextended('workspace news', 0)) as got"));
    if (!lock.got) return undefined;
    const { rows } = await trx.raw<{ rows: NewsColumns[] }>(TAKE_NEWS);
    const row = rows[0];
    if (row === undefined) return undefined;
    const more = row.count - row.lines.length;
    return {
        recipients: await ownersOfWorkspace(trx, row.workspace_id),
        subject: row.subjects > 1 ? `${row.subject}, and other news` : row.subject,
        lines: more > 0 ? [...row.lines, `and ${more} more`] : row.lines,
        removalId: row.removal_id,
    };
}

interface NewsColumns {
    workspace_id: string;
    subject: string;
    subjects: number;
    lines: string[];
    count: number;
    removal_id: string | null;
}

/** Only owners who confirmed their address, because any other address may belong to a stranger. */
async function ownersOfWorkspace(db: Db, workspaceId: string): Promise<string[]> {
    return db('memberships as m')
        .join('users as u', 'u.id', 'm.user_id')
        .where({ 'm.workspace_id': workspaceId, 'm.role': 'owner', 'u.deleted_at': null })
        .whereNotNull('u.verified_at')
        .orderBy('u.id')
        .pluck('u.email');
}
