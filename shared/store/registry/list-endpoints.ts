import { MARKS } from '../../domain/find/endpoint-words.ts';
import type { Claim } from '../../domain/site/claim.ts';
import type { Json, Kind } from '../../domain/types.ts';
import { columnList, columns, cutPage, type Db } from '../../platform/db.ts';
import { type PreparedQuery, runPlanned, runPrepared } from '../../platform/prepared-query.ts';
import type { Read } from '../../platform/replica.ts';
import type { FoundPage, PageOrder } from '../../platform/row-page.ts';
import { fromBucket, WEEK } from '../usage/traffic.ts';
import type { FindFilters } from './find-statements.ts';
import { isLeaf } from './keyset-segments.ts';
import { claimOf } from './ownership.ts';
import type { CheckedEndpoint } from './refused-endpoints.ts';
import { PlaceGone } from './search.ts';
import { createTotals } from './totals.ts';

export interface EndpointRow extends CheckedEndpoint {
    id: number;
    site: string;
    name: string;
    kind: Kind;
    intentCategory: string;
    /** Its words that were asked for, as a PostgreSQL tsvector in text form. */
    search: string;
    verifiedAt: Date | null;
    /** Price of one unit, in credits. */
    siteCredits: number;
    claim: Claim;
    /** Success rate of 7 days, 0 to 1; null without calls. */
    successRate: number | null;
    p95Ms: number | null;
}

const TIMEOUT_MS = 2000;

const ROW: Record<keyof Omit<EndpointRow, 'successRate' | 'p95Ms'>, string> = {
    ...columns('e', 'id site registrable name kind effect intent_category version_id'),
    ...columns('d', 'policy operator_policy'),
    // Gives weight A to the asked words alone, and selects these. As text, all words of an endpoint are longer than the rest of its row.
    search: "ts_filter(setweight(setweight(e.search, 'D'), 'A', (select $2::text[])), '{a}')::text",
    entry: 'x.entry',
    verifiedAt: 'v.verified_at',
    siteCredits: 'd.credits',
    claim: claimOf('e.registrable'),
};

const ROWS: PreparedQuery = {
    name: 'endpoint_rows',
    text: `with ${WEEK}
        select ${columnList(ROW)}, calls.successes, calls.failures, case when calls.successes > 0 then (
            select min(bucket) from (
                select u.bucket, sum(sum(u.successes)) over (order by u.bucket) as up_to, sum(sum(u.successes)) over () as all_of_them
                from endpoint_durations u
                where u.site = e.site collate "default" and u.endpoint = e.name collate "default" and u.day >= week.first_day
                group by u.bucket) as running
            where up_to >= 0.95 * all_of_them) end as bucket
        from week, unnest((select $1::bigint[])) with ordinality as asked (id, place)
        -- By a join, a server without statistics of the whole table reads all of it: 84 instead of 2 ms with a million endpoints.
        cross join lateral (select * from endpoints where id = asked.id limit 1) as e
        join endpoint_entries x on x.endpoint_id = e.id
        join versions v on v.id = e.version_id
        join domains d on d.registrable = e.registrable
        cross join lateral (
            select coalesce(sum(u.successes), 0)::bigint as successes, coalesce(sum(u.failures), 0)::bigint as failures
            from endpoint_days u where u.site = e.site collate "default" and u.endpoint = e.name collate "default" and u.day >= week.first_day
        ) as calls
        order by asked.place`,
};

type RowColumns = Omit<EndpointRow, 'successRate' | 'p95Ms'> & { successes: number; failures: number; bucket: number | null };

/** Endpoints by id, in the given order, without deleted ones. @param words selects the words of each that are read */
export async function endpointRows(db: Db, ids: readonly number[], words: readonly string[] = []): Promise<EndpointRow[]> {
    if (ids.length === 0) return [];
    const rows = await runPrepared<RowColumns>(db, ROWS, [ids, words], TIMEOUT_MS);
    return rows.map(({ successes, failures, bucket, ...row }) => ({
        ...row,
        successRate: successes + failures === 0 ? null : successes / (successes + failures),
        p95Ms: bucket === null ? null : fromBucket(bucket),
    }));
}

export type UsedLists = ReturnType<typeof createUsedLists>;

/** Larger totals are cached. */
const MANY = 1000;
const TYPES = { category: 'text', kind: 'text', effect: 'text', site: 'text', credits: 'integer', rollup: 'bigint', behind: 'text' };

/**
 * Lists the ids of all endpoints: first of the most used sites, by the roll-up with which the list began, then the others by site.
 * @param read must limit the time of queries
 */
export function createUsedLists(read: Read) {
    const count = createTotals(read, MANY);
    return {
        /** @throws PlaceGone */
        async page(filters: FindFilters, { limit, after }: PageOrder<Json>): Promise<FoundPage<number, Json>> {
            const place = after === undefined ? BEGINNING : readUsePlace(after);
            const { conditions, values } = conditionsOf(filters);
            const text = `select count(*) as total ${FROM} where ${conditions.join(' and ')}`;
            const [rows, total] = await Promise.all([
                read((db) => walkByUse(db, filters, place, limit + 1)),
                count({ text, values, types: TYPES }),
            ]);
            const { shown, last } = cutPage(rows, limit);
            return {
                rows: shown.map(({ id }) => id),
                next: last && [last.rollup, last.segment, last.rank, last.site, last.place],
                total,
            };
        },
    };
}

interface UsePlace {
    /** The id of a roll-up; null: the latest one. */
    rollup: number | null;
    /** 0: sites with a rank, 1: all other sites. */
    segment: number;
    /** The endpoint after which the page begins. */
    rank: number;
    site: string;
    place: number;
}

const BEGINNING: UsePlace = { rollup: null, segment: 0, rank: 0, site: '', place: -1 };

/** Cursors are authenticated, so their content is trusted. */
function readUsePlace(from: Json): UsePlace {
    const [rollup, segment, rank, site, place] = from as [number, number, number, string, number];
    return { rollup, segment, rank, site, place };
}

const FROM = 'from endpoints e join domains d on d.registrable = e.registrable';

async function walkByUse(db: Db, filters: FindFilters, from: UsePlace, limit: number): Promise<(UsePlace & { id: number })[]> {
    const { conditions, values } = conditionsOf(filters);
    const where = conditions.join(' and ');
    const ranked = `select 0 as segment, e.id, t.rank, e.site, e.place ${FROM}
        join trending_sites t on t.site = e.site and t.rollup_id = (select id from rollup) and t.period = '7d'
        where ${where} and (t.rank, e.place) > (:rank, :place) order by t.rank, e.place limit :limit`;
    const others = `select 1 as segment, e.id, 0 as rank, e.site, e.place ${FROM}
        where ${where} and (e.site, e.place) > (:behind, :place) and not exists (
            select from trending_sites t where t.site = e.site and t.rollup_id = (select id from rollup) and t.period = '7d')
        order by e.site, e.place limit :limit`;
    const first = from.segment === 0 ? `(${ranked}) union all ` : '';
    const text = `with rollup as materialized (select coalesce(:rollup, (select max(id) from trending_rollups), 0) as id)
        select f.*, r.id as rollup, r.id = 0 or exists (select from trending_rollups k where k.id = r.id) as is_kept
        from rollup r left join (${first}(${from.segment === 0 ? others.replace(':place', '-1') : others})) as f on true limit :limit`;
    const given = {
        ...values,
        rollup: from.rollup,
        rank: from.rank,
        behind: from.segment === 0 ? '' : from.site,
        place: from.place,
        limit,
    };
    const types = { ...TYPES, rank: 'integer', place: 'integer', limit: 'bigint' };
    const rows = await runPlanned<(UsePlace | { segment: null }) & { id: number; is_kept: boolean }>(db, { text, values: given, types });
    if (rows.some(({ is_kept }) => !is_kept)) throw new PlaceGone();
    return rows.filter((row): row is UsePlace & { id: number; is_kept: boolean } => row.segment !== null);
}

function conditionsOf({ category, kind, effect, site, isVerifiedOnly, maxCredits, needsConnection }: FindFilters) {
    const conditions = ['not d.is_blocked'];
    if (category !== undefined) {
        conditions.push(
            isLeaf(category)
                ? 'e.intent_category = :category'
                : "(e.intent_category = :category or e.intent_category like :category || '/%')",
        );
    }
    if (kind !== undefined) conditions.push('e.kind = :kind');
    if (effect !== undefined) conditions.push('e.effect = :effect');
    if (site !== undefined) conditions.push('e.site = :site');
    if (isVerifiedOnly) conditions.push('e.is_verified');
    if (needsConnection !== undefined)
        conditions.push(`${needsConnection ? '' : 'not '}e.search @@ '''${MARKS.needsConnection}'''::tsquery`);
    if (maxCredits !== undefined) conditions.push('d.credits <= :credits');
    return { conditions, values: { category, kind, effect, site, credits: maxCredits } };
}
