import type { Db } from '../db.ts';
import { fromBucket } from './durations.ts';

/** What real fetches say of an endpoint or a site. Days are UTC; "7 days" are today and the seven before. */
export interface TrafficHealth {
    /** 0 to 1, of the calls of 7 days that reached the site; null without one. */
    successRate: number | null;
    /** Of the successes of 7 days; null without one. */
    p95Ms: number | null;
    lastSuccessAt: Date | null;
}

export interface SiteTraffic {
    /** Successful fetches of 7 days. */
    fetches7d: number;
    /** Over all endpoints; undefined before there was any traffic. */
    health: TrafficHealth | undefined;
}

/** The health of each endpoint of a site that was ever called, by its name. */
export async function endpointHealth(db: Db, site: string): Promise<Map<string, TrafficHealth>> {
    const rows = await readTraffic(db, site, 'endpoint');
    return new Map(rows.map((row) => [row.endpoint, toHealth(row)]));
}

/** The health of a site as a whole, and how much it was used. */
export async function siteTraffic(db: Db, site: string): Promise<SiteTraffic> {
    const [row] = await readTraffic(db, site, "''");
    return row === undefined ? { fetches7d: 0, health: undefined } : { fetches7d: row.successes, health: toHealth(row) };
}

/** Forgets the request log and the roll-ups of more than so many days ago; returns the rows of the log that went. */
export async function pruneUsage(db: Db, { days, limit = 10_000 }: { days: number; limit?: number }): Promise<number> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `delete from usage where id in (select id from usage where at < app_now() - make_interval(days => ?) limit ?)`,
        [days, limit],
    );
    for (const table of ['endpoint_days', 'endpoint_durations']) {
        await db.raw("delete from ?? where day < ((app_now() - make_interval(days => ?)) at time zone 'UTC')::date", [table, days]);
    }
    await db.raw('delete from catalog_sessions where at < app_now() - make_interval(days => ?)', [days]);
    return rowCount;
}

/** @param by the column to tell apart, or `''` for all together */
async function readTraffic(db: Db, site: string, by: 'endpoint' | "''"): Promise<TrafficColumns[]> {
    const { rows } = await db.raw<{ rows: TrafficColumns[] }>(
        `with week as (select ((app_now() - interval '7 days') at time zone 'UTC')::date as first_day),
         calls as (
             select ${by} as endpoint, coalesce(sum(successes) filter (where day >= first_day), 0)::bigint as successes,
                    coalesce(sum(failures) filter (where day >= first_day), 0)::bigint as failures, max(last_success_at) as last_success_at
             from endpoint_days, week where site = :site group by 1
         ), buckets as (
             select ${by} as endpoint, bucket, sum(successes) as successes
             from endpoint_durations, week where site = :site and day >= first_day group by 1, 2
         ), running as (
             select endpoint, bucket, sum(successes) over (partition by endpoint order by bucket) as up_to,
                    sum(successes) over (partition by endpoint) as all_of_them
             from buckets
         )
         select c.*, (select min(r.bucket) from running r where r.endpoint = c.endpoint and r.up_to >= 0.95 * r.all_of_them) as p95_bucket
         from calls c`,
        { site },
    );
    return rows;
}

interface TrafficColumns {
    endpoint: string;
    successes: number;
    failures: number;
    last_success_at: Date | null;
    p95_bucket: number | null;
}

function toHealth(row: TrafficColumns): TrafficHealth {
    const calls = row.successes + row.failures;
    return {
        successRate: calls === 0 ? null : row.successes / calls,
        p95Ms: row.p95_bucket === null ? null : fromBucket(row.p95_bucket),
        lastSuccessAt: row.last_success_at,
    };
}
