import type { Db } from '../../platform/db.ts';

/** An outcome is forgotten unless it is confirmed within this time. */
const KEPT_DAYS = 90;

/**
 * Learns which endpoints the words of an intent lead to. It counts successful fetches with the session of a look-up of the same site, by
 * the same account or without a key. An account counts once per period.
 */
export async function learnOutcomes(db: Db, { from, until }: { from: Date; until: Date }): Promise<void> {
    await db.raw(
        `insert into intent_outcomes as known (site, word, endpoint, callers, last_at)
         select u.site, w.word, u.endpoint, count(distinct u.account_id), max(u.at)
         from usage u
         join catalog_sessions s on s.id = u.session_id and s.site = u.site and (s.account_id is null or s.account_id = u.account_id)
         cross join unnest(s.words) as w (word)
         where u.at > :from and u.at <= :until and u.kind = 'fetch' and u.outcome = 'success' and not u.cached and u.session_id is not null
         group by 1, 2, 3 order by 1, 2, 3
         on conflict (site, word, endpoint) do update set callers = known.callers + excluded.callers, last_at = excluded.last_at`,
        { from, until },
    );
    await db.raw(`delete from intent_outcomes where last_at < app_now() - interval '${KEPT_DAYS} days'`);
}
