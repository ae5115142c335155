import { TRENDING_WINDOWS, type TrendingWindow } from '../../domain/package/registry-choices.ts';
import { ago, type Columns, columns, type Db } from '../../platform/db.ts';

/** Most used sites and endpoints by intent, from roll-ups of the request log. */

interface TrendingSite {
    site: string;
    title: string;
    intentCategory: string;
    isVerified: boolean;
    fetches: number;
    lookups: number;
    score: number;
}

/** The sites of a period by the latest roll-up, most used first. Empty before the first roll-up. Blocked sites are left out. */
export async function trendingSites(db: Db, window: TrendingWindow, limit: number): Promise<TrendingSite[]> {
    const trending: Columns<TrendingSite> = {
        ...columns('t', 'site fetches lookups score'),
        title: 's.title',
        intentCategory: 's.intent_category',
        isVerified: db.raw('s.verified_at is not null'),
    };
    return db('trending_sites as t')
        .join('sites as s', 's.site', 't.site')
        .join('domains as d', 'd.registrable', 's.registrable')
        .where({ 't.rollup_id': db('trending_rollups').max('id'), 't.period': window, 'd.is_blocked': false })
        .whereNotNull('s.latest_version_id')
        .orderBy('t.rank')
        .limit(limit)
        .select(trending);
}

/** Number of ranked sites. For 7 days, many sites have a rank, for paging. */
const RANKS: Readonly<Record<TrendingWindow, number>> = { '24h': 200, '7d': 10_000, '30d': 200 };
/** How long a roll-up is kept, so that a list keeps the order with which it began. */
const KEPT = '26 hours';
/** How long an outcome of an intent is kept without being confirmed, and how long a choice from a list is kept. */
const OUTCOMES_KEPT = '90 days';
/** Minimum number of accounts. Fewer accounts could belong to one person. */
const MIN_CHOOSERS = 5;
/** The id of the advisory lock of the roll-up. All processes use the same number. */
const LOCK = 7_062_602;

/**
 * Rolls up the request log once an hour, however many processes call it. A roll-up that ranked no site is repeated after further calls, so
 * that a new installation shows its first calls at once. Returns whether this call did it. The calls of one caller on one day count by their
 * logarithm, and a fetch counts as much as four look-ups. Calls by the domain's maintainers do not count.
 */
export async function rollUpTrending(db: Db): Promise<boolean> {
    return db.transaction(async (trx) => {
        const lock = await trx.first(trx.raw('pg_try_advisory_xact_lock(?) as is_free', [LOCK]));
        if (!lock.is_free) return false;
        const begun = await trx.raw<{ rows: { id: number; from: Date; until: Date }[] }>(BEGIN);
        const [rollup] = begun.rows;
        if (rollup === undefined) return false;
        await rollUpDays(trx);
        for (const window of TRENDING_WINDOWS) await trx.raw(rank(window), { id: rollup.id, window, limit: RANKS[window] });
        await trx.raw(LEARN_OUTCOMES, rollup);
        await trx('intent_outcomes').where('last_at', '<', ago(trx, OUTCOMES_KEPT)).delete();
        await trx.raw(ADD_CHOICES, rollup);
        await trx('find_choices')
            .where('day', '<', trx.raw("(? at time zone 'UTC')::date", [ago(trx, OUTCOMES_KEPT)]))
            .delete();
        await trx('find_choice_counts').delete();
        await trx.raw(COUNT_CHOICES, { min: MIN_CHOOSERS });
        await trx('trending_rollups').where('hour', '<', ago(trx, KEPT)).delete();
        return true;
    });
}

/** Rewrites the days that have changed: the last day that was written, and those after it. */
async function rollUpDays(db: Db): Promise<void> {
    const oldest = db.raw(OLDEST_DAY);
    await db('trending_days').where('day', '<', oldest).delete();
    const { day } = await db('trending_days').first(db.raw('coalesce(max(day), ?)::text as day', [oldest]));
    await db('trending_days').where('day', '>=', day).delete();
    await db.raw(ADD_DAYS, { day });
}

/** Raw, like all following statements: each rolls up a part of the log in one statement. */
const BEGIN = `
    insert into trending_rollups (hour, learnt_until)
    select date_trunc('hour', app_now(), 'UTC'), app_now() - interval '5 seconds'
    where not exists (
        select from trending_rollups r
        where r.hour >= date_trunc('hour', app_now(), 'UTC')
          and (exists (select from trending_sites t where t.rollup_id = r.id)
               or not exists (select from usage u where u.at > r.learnt_until and u.outcome = 'success' and not u.cached)))
    on conflict (hour) do update set learnt_until = excluded.learnt_until
    returning id, learnt_until as until, coalesce((select max(learnt_until) from trending_rollups), app_now() - interval '1 day') as from`;

const OLDEST_DAY = "(app_now() at time zone 'UTC')::date - 31";

const ADD_DAYS = `
    insert into trending_days (day, site, fetches, lookups, score)
    select day, site, sum(fetches), sum(lookups), sum(score)
    from (${scores("(cast(:day as date)::timestamp at time zone 'UTC')", "(u.at at time zone 'UTC')::date")}) as calls group by 1, 2`;

function rank(window: TrendingWindow): string {
    const calls =
        window === '24h'
            ? scores("app_now() - interval '24 hours'", "''")
            : `select site, fetches, lookups, score from trending_days where day >= (app_now() at time zone 'UTC')::date - ${window === '7d' ? 7 : 30}`;
    return `
        insert into trending_sites (rollup_id, period, rank, site, intent_category, fetches, lookups, score)
        select :id, :window, row_number() over (order by best.score desc, best.site), best.site, coalesce(s.intent_category, ''),
               best.fetches, best.lookups, best.score
        from (select site, sum(fetches) as fetches, sum(lookups) as lookups, round(sum(score)::numeric, 3) as score
              from (${calls}) as calls group by site order by score desc, site limit :limit) as best
        left join sites s on s.site = best.site`;
}

/** Leaves out maintainers' calls of their own domains. @param made has registrable, workspace_id and user_id */
function excludeMaintainers(made: string): string {
    return `not exists (
            select from maintainers m
            left join memberships b on b.workspace_id = m.workspace_id and b.user_id = ${made}.user_id
            where m.registrable = ${made}.registrable and (m.workspace_id = ${made}.workspace_id or b.user_id is not null))`;
}

/** Counts calls per day, site and caller. They are summed before they are filtered, because there are fewer callers than calls. */
function scores(since: string, day: string): string {
    return `select day, site, sum(fetches) as fetches, sum(lookups) as lookups, ln(1 + 4 * sum(fetches) + sum(lookups)) as score
        from (select ${day} as day, u.site, u.registrable, coalesce(u.account_id, u.address_hash, '') as caller, u.workspace_id, u.user_id,
                     count(*) filter (where u.kind = 'fetch') as fetches, count(*) filter (where u.kind = 'catalog') as lookups
              from usage u
              where u.at >= ${since} and u.outcome = 'success' and not u.cached
              group by 1, 2, 3, 4, 5, 6) as made
        where ${excludeMaintainers('made')}
        group by day, site, caller`;
}

/** Where the words of intents lead: fetches that name a session of the site, of the account or keyless. An account counts once. */
const LEARN_OUTCOMES = `
    insert into intent_outcomes as known (site, word, endpoint, callers, last_at)
    select u.site, w.word, u.endpoint, count(distinct u.account_id), max(u.at)
    from usage u
    join catalog_sessions s on s.id = u.session_id and s.site = u.site and (s.account_id is null or s.account_id = u.account_id)
    cross join unnest(s.words) as w (word)
    where u.at > :from and u.at <= :until and u.kind = 'fetch' and u.outcome = 'success' and not u.cached and u.session_id is not null
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (site, word, endpoint) do update set callers = known.callers + excluded.callers, last_at = excluded.last_at`;

/** Finds successful fetches that name a session of a search among all sites, by the same account. */
const ADD_CHOICES = `
    insert into find_choices (site, endpoint, word, account_id, day)
    select distinct u.site, u.endpoint, w.word, u.account_id, (u.at at time zone 'UTC')::date
    from usage u
    join catalog_sessions s on s.id = u.session_id and s.site is null and s.account_id = u.account_id
    cross join unnest(s.words) as w (word)
    where u.at > :from and u.at <= :until and u.kind = 'fetch' and u.outcome = 'success' and not u.cached and u.session_id is not null
      and ${excludeMaintainers('u')}
    on conflict do nothing`;

const COUNT_CHOICES = `
    insert into find_choice_counts (site, endpoint, word, choices)
    select site, endpoint, word, count(*) from find_choices group by 1, 2, 3 having count(distinct account_id) >= :min`;
