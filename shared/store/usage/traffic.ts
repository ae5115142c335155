import { ago, type Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { dropLogDays, makeLogDays, USAGE_DAYS } from './log-days.ts';

/** Statistics of real fetches. Days are UTC. "7 days" means today and the seven days before. */
export interface TrafficHealth {
    /** 0 to 1: the share of successes among the calls of 7 days that reached the site; null if there were none. */
    successRate: number | null;
    /** Over the successes of 7 days; null if there were none. */
    p95Ms: number | null;
    lastSuccessAt: Date | null;
}

export interface SiteTraffic {
    /** Number of successful fetches of 7 days. */
    fetches7d: number;
    /** Over all endpoints; undefined if there has never been any traffic. */
    health: TrafficHealth | undefined;
}

/** The health of each endpoint that has ever been called, by name. */
export type EndpointHealth = ReadonlyMap<string, TrafficHealth>;

/** The health of each endpoint of a site that has ever been called, by name. */
export async function endpointHealth(db: Db, site: string): Promise<EndpointHealth> {
    const rows = await runPrepared<EndpointHealthColumns>(db, ENDPOINTS, [site], TIMEOUT_MS);
    return toEndpointHealth(rows);
}

/** The traffic of each of these sites as a whole, at the same indices. */
export async function siteTraffic(db: Db, sites: readonly string[]): Promise<SiteTraffic[]> {
    const rows = await runPrepared<HealthColumns>(db, SITES, [sites], TIMEOUT_MS);
    return rows.map((row) => {
        const isSilent = row.successes + row.failures === 0 && row.last_success_at === null;
        return { fetches7d: row.successes, health: isSilent ? undefined : toHealth(row) };
    });
}

/** Creates daily partitions of the request log ahead of time, drops expired ones, and deletes roll-ups of the same age. */
export async function maintainUsage(db: Db, days = USAGE_DAYS): Promise<void> {
    await makeLogDays(db);
    await dropLogDays(db, days);
    const old = ago(db, `${days} days`);
    for (const table of ['endpoint_days', 'endpoint_durations', 'site_durations'])
        await db(table)
            .where('day', '<', db.raw("(? at time zone 'UTC')::date", [old]))
            .delete();
    await db('usage_hours').where('hour', '<', old).delete();
    await db('catalog_sessions').where('at', '<', old).delete();
}

/** The last success of an endpoint within two days, in any version. The log lags by a second. */
export async function lastSuccess(db: Db, site: string, endpoint: string): Promise<Date | undefined> {
    const last = await db('endpoint_days')
        .where({ site, endpoint })
        .where('day', '>=', db.raw("(app_now() at time zone 'UTC')::date - 1"))
        .max({ at: 'last_success_at' })
        .first();
    return last?.at ?? undefined;
}

const TIMEOUT_MS = 5000;
export const WEEK = "week as materialized (select ((app_now() - interval '7 days') at time zone 'UTC')::date as first_day)";

/** The last success of a site is on its last day with a success. */
const SITES: PreparedQuery = {
    name: 'site_traffic',
    text: `with ${WEEK}
        select calls.successes, calls.failures, past.last_success_at, durations.p95_bucket
        from week, unnest((select $1::text[])) with ordinality as asked (site, place)
        cross join lateral (
            select coalesce(sum(successes), 0)::bigint as successes, coalesce(sum(failures), 0)::bigint as failures
            from endpoint_days e where e.site = asked.site and e.day >= week.first_day
        ) as calls
        cross join lateral (
            select max(e.last_success_at) as last_success_at from endpoint_days e
            where e.site = asked.site and e.day = (
                select max(l.day) from endpoint_days l where l.site = asked.site and l.last_success_at is not null)
        ) as past
        cross join lateral (
            select min(bucket) as p95_bucket from (
                select bucket, sum(sum(successes)) over (order by bucket) as up_to, sum(sum(successes)) over () as all_of_them
                from site_durations d where d.site = asked.site and d.day >= week.first_day group by bucket) as running
            where up_to >= 0.95 * all_of_them
        ) as durations
        order by place`,
};

/** The health of the endpoints of the site `asked.site`. The statement must also contain `WEEK`. Times in milliseconds since 1970. */
export const ENDPOINT_HEALTH = `
    select calls.*, durations.p95_bucket
    from (
        select e.endpoint, coalesce(sum(e.successes) filter (where e.day >= week.first_day), 0)::bigint as successes,
               coalesce(sum(e.failures) filter (where e.day >= week.first_day), 0)::bigint as failures,
               floor(extract(epoch from max(e.last_success_at)) * 1000)::double precision as last_success_ms
        from endpoint_days e where e.site = asked.site group by e.endpoint
    ) as calls
    left join (
        select endpoint, min(bucket) filter (where up_to >= 0.95 * all_of_them) as p95_bucket from (
            select d.endpoint, d.bucket, sum(sum(d.successes)) over (partition by d.endpoint order by d.bucket) as up_to,
                   sum(sum(d.successes)) over (partition by d.endpoint) as all_of_them
            from endpoint_durations d where d.site = asked.site and d.day >= week.first_day group by d.endpoint, d.bucket) as running
        group by endpoint
    ) as durations on durations.endpoint = calls.endpoint`;

const ENDPOINTS: PreparedQuery = {
    name: 'endpoint_health',
    text: `with ${WEEK} select health.* from week, (select $1::text as site) as asked cross join lateral (${ENDPOINT_HEALTH}) as health`,
};

export interface EndpointHealthColumns {
    endpoint: string;
    successes: number;
    failures: number;
    last_success_ms: number | null;
    p95_bucket: number | null;
}

export function toEndpointHealth(rows: readonly EndpointHealthColumns[]): EndpointHealth {
    return new Map(
        rows.map((row) => [
            row.endpoint,
            toHealth({ ...row, last_success_at: row.last_success_ms === null ? null : new Date(row.last_success_ms) }),
        ]),
    );
}

interface HealthColumns {
    successes: number;
    failures: number;
    last_success_at: Date | null;
    p95_bucket: number | null;
}

function toHealth(row: HealthColumns): TrafficHealth {
    const calls = row.successes + row.failures;
    return {
        successRate: calls === 0 ? null : row.successes / calls,
        p95Ms: row.p95_bucket === null ? null : fromBucket(row.p95_bucket),
        lastSuccessAt: row.last_success_at,
    };
}

const RATIO = 1.2;

/** The bucket of a duration. Bucket n contains durations of up to 1.2 ^ n milliseconds that exceed bucket n - 1. */
export function toBucket(ms: number): number {
    return ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(RATIO));
}

/** A duration in the middle of a bucket, in whole milliseconds. The error is at most 10 %. */
export function fromBucket(bucket: number): number {
    return Math.max(1, Math.round(RATIO ** (bucket - 0.5)));
}

/** The same as a SQL expression. */
export function millisecondsOf(bucket: string): string {
    return `greatest(1, round(${RATIO} ^ (${bucket} - 0.5)))::integer`;
}
