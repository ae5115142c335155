import type { Db } from '../../platform/db.ts';

/** The owner gets a notice after this many failed calls in a row of one endpoint with one key. */
export const FAILURES = 50;
/** How often the request log is looked at, by one process at a time. */
const EVERY_SECONDS = 15;
/** Rows come in late, and a stretch that nobody looked at is not caught up for ever. */
const OVERLAP_SECONDS = 30;
const MOST_SECONDS = 3600;

/** Claims the next look at the request log. Returns its start time, or undefined where another process has just looked. */
export async function takeLook(db: Db): Promise<Date | undefined> {
    const { rows } = await db.raw<{ rows: { since: Date }[] }>(
        `with before as (
             select looked_at from notice_watch where looked_at <= app_now() - :every * interval '1 second' for update skip locked
         )
         update notice_watch set looked_at = app_now() from before
         returning greatest(before.looked_at - :overlap * interval '1 second', app_now() - :most * interval '1 second') as since`,
        { every: EVERY_SECONDS, overlap: OVERLAP_SECONDS, most: MOST_SECONDS },
    );
    return rows[0]?.since;
}

export interface Spent {
    accountId: string;
    plan: string;
    limit: number;
    left: number;
    period: string;
    resetsAt: Date;
}

/** Accounts that were charged since then and have a fifth of their allowance left, or less; what is held is not spent yet. */
export async function nearlySpent(db: Db, since: Date): Promise<Spent[]> {
    const { rows } = await db.raw<{ rows: Spent[] }>(
        `select c.id as "accountId", c.plan, c.allowance as "limit", c.allowance_available + c.held as "left",
                'period ' || c.period_number as period, coalesce(c.billing_date, c.resets_at) as "resetsAt"
         from credit_accounts c
         where c.id in (select distinct account_id from usage where at >= ? and credits > 0)
           and c.allowance > 0 and (c.allowance_available + c.held) * 5 <= c.allowance and c.resets_at > app_now() and c.resets_at < 'infinity'
         order by c.id`,
        [since],
    );
    return rows;
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
    /** Whether the last call failed. */
    isFailing: boolean;
}

/** Who called what since then. */
export async function recentStreaks(db: Db, since: Date): Promise<Streak[]> {
    const { rows } = await db.raw<{ rows: Streak[] }>(
        `select account_id as "accountId", workspace_id as "workspaceId", user_id as "userId", key_id as "keyId", site, endpoint,
                max(at) filter (where outcome = 'success') as "lastSuccess",
                coalesce(max(at) > max(at) filter (where outcome = 'success'), true) as "isFailing"
         from usage where at >= ? and kind = 'fetch' and key_id is not null and endpoint is not null
         group by 1, 2, 3, 4, 5, 6`,
        [since],
    );
    return rows;
}

/** The code that the last calls failed with most often, where all of them did; undefined where one of them succeeded, or they are too few. */
export async function failedWith(db: Db, { accountId, keyId, site, endpoint }: Streak): Promise<string | undefined> {
    const { rows } = await db.raw<{ rows: { code: string }[] }>(
        `with last as (
             select outcome from usage
             where account_id = ? and at > app_now() - interval '7 days' and key_id = ? and site = ? and endpoint = ? and kind = 'fetch'
             order by at desc, id desc limit ?
         )
         select mode() within group (order by outcome) as code from last having count(*) = ? and bool_and(outcome <> 'success')`,
        [accountId, keyId, site, endpoint, FAILURES, FAILURES],
    );
    return rows[0]?.code;
}

/** The name of a key and its owner's address; undefined where either is gone. */
export async function keyOwner(db: Db, keyId: string): Promise<{ name: string; email: string } | undefined> {
    const { rows } = await db.raw<{ rows: { name: string; email: string }[] }>(
        'select k.name, u.email from api_keys k join users u on u.id = k.user_id and u.deleted_at is null where k.id = ?',
        [keyId],
    );
    return rows[0];
}
