import type { Db } from '../../platform/db.ts';
import { learnOutcomes } from './intent-outcomes.ts';

/** What is used most, from roll-ups of the request log. */

export const TRENDING_WINDOWS = ['24h', '7d', '30d'] as const;
export type TrendingWindow = (typeof TRENDING_WINDOWS)[number];

export interface TrendingSite {
    site: string;
    title: string;
    intentCategory: string;
    isVerified: boolean;
    fetches: number;
    lookups: number;
    score: number;
}

/** The sites of a window by the latest roll-up, the most used one first; none before the first roll-up. Blocked ones are left out. */
export async function trendingSites(db: Db, window: TrendingWindow, limit: number): Promise<TrendingSite[]> {
    const { rows } = await db.raw<{ rows: TrendingSite[] }>(
        `select t.site, s.title, s.intent_category as "intentCategory", s.verified_at is not null as "isVerified",
                t.fetches, t.lookups, t.score
         from trending_sites t
         join sites s on s.site = t.site and s.latest_version_id is not null
         join domains d on d.registrable = s.registrable and not d.is_blocked
         where t.rollup_id = (select max(id) from trending_rollups) and t.period = ? order by t.rank limit ?`,
        [window, limit],
    );
    return rows;
}

/** Over 7 days every site has a rank, for paging. Other periods show this many sites. */
const RANKS: Readonly<Record<TrendingWindow, number>> = { '24h': 200, '7d': 10_000, '30d': 200 };
/** A started list keeps its order for this long. */
const KEPT = "interval '26 hours'";
/** One number that all processes take as the advisory lock of the roll-up. */
const LOCK = 7_062_602;

/**
 * Rolls up the request log once an hour, however many processes call it. Returns whether this call did it. The calls of one caller per day
 * count by their logarithm, and a fetch counts as much as four look-ups. Calls by the domain's maintainers do not count.
 */
export async function rollUpTrending(db: Db): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: [{ is_free: boolean }] }>('select pg_try_advisory_xact_lock(?) as is_free', [LOCK]);
        if (!rows[0].is_free) return false;
        const begun = await trx.raw<{ rows: { id: number; from: Date; until: Date }[] }>(
            `insert into trending_rollups (hour, learnt_until)
             select date_trunc('hour', app_now(), 'UTC'), app_now() - interval '5 seconds'
             where not exists (select from trending_rollups where hour >= date_trunc('hour', app_now(), 'UTC'))
             returning id, learnt_until as until,
                       coalesce((select max(learnt_until) from trending_rollups), app_now() - interval '1 day') as from`,
        );
        const [rollup] = begun.rows;
        if (rollup === undefined) return false;
        await rollUpDays(trx);
        for (const window of TRENDING_WINDOWS) await rank(trx, rollup.id, window);
        await learnOutcomes(trx, rollup);
        await trx.raw(`delete from trending_rollups where hour < app_now() - ${KEPT}`);
        return true;
    });
}

/** Rewrites the days that have changed: the last day that was written, and those after it. */
async function rollUpDays(db: Db): Promise<void> {
    await db.raw("delete from trending_days where day < (app_now() at time zone 'UTC')::date - 31");
    const { rows } = await db.raw<{ rows: [{ day: string }] }>(
        `select coalesce(max(day), (app_now() at time zone 'UTC')::date - 31)::text as day from trending_days`,
    );
    const since = "(cast(:day as date)::timestamp at time zone 'UTC')";
    await db.raw('delete from trending_days where day >= cast(:day as date)', rows[0]);
    await db.raw(
        `insert into trending_days (day, site, fetches, lookups, score)
         select day, site, sum(fetches), sum(lookups), sum(score) from (${scores(since, "(u.at at time zone 'UTC')::date")}) as calls group by 1, 2`,
        rows[0],
    );
}

async function rank(db: Db, id: number, window: TrendingWindow): Promise<void> {
    const days = window === '7d' ? 7 : 30;
    const calls =
        window === '24h'
            ? scores("app_now() - interval '24 hours'", "''")
            : `select site, fetches, lookups, score from trending_days where day >= (app_now() at time zone 'UTC')::date - ${days}`;
    await db.raw(
        `insert into trending_sites (rollup_id, period, rank, site, intent_category, fetches, lookups, score)
         select :id, :window, row_number() over (order by best.score desc, best.site), best.site, coalesce(s.intent_category, ''),
                best.fetches, best.lookups, best.score
         from (select site, sum(fetches) as fetches, sum(lookups) as lookups, round(sum(score)::numeric, 3) as score
               from (${calls}) as calls group by site order by score desc, site limit :limit) as best
         left join sites s on s.site = best.site`,
        { id, window, limit: RANKS[window] },
    );
}

/** Calls that count, of a day each, by site and caller: first summed up, then judged, since callers are fewer than calls. */
function scores(since: string, day: string): string {
    return `select day, site, sum(fetches) as fetches, sum(lookups) as lookups, ln(1 + 4 * sum(fetches) + sum(lookups)) as score
        from (select ${day} as day, u.site, u.registrable, coalesce(u.account_id, u.address_hash, '') as caller, u.workspace_id, u.user_id,
                     count(*) filter (where u.kind = 'fetch') as fetches, count(*) filter (where u.kind = 'catalog') as lookups
              from usage u
              where u.at >= ${since} and u.outcome = 'success' and not u.cached
              group by 1, 2, 3, 4, 5, 6) as made
        where not exists (
            select from maintainers m
            left join memberships b on b.workspace_id = m.workspace_id and b.user_id = made.user_id
            where m.registrable = made.registrable and (m.workspace_id = made.workspace_id or b.user_id is not null))
        group by day, site, caller`;
}
