import type { Knex } from 'knex';
import { ago, type Columns, type Db, definedConditions } from '../../platform/db.ts';
import { fromBucket } from './traffic.ts';

/** Criteria for calls. Undefined ones do not restrict the result. */
export interface UsageScope {
    workspaceId: string;
    /** Only the calls of one member. */
    userId: string | undefined;
    site: string | undefined;
    /** `''` for calls without an endpoint: look-ups in the catalog, and calls that were refused before their endpoint was known. */
    endpoint: string | undefined;
    keyId: string | undefined;
}

interface Figures {
    calls: number;
    successes: number;
    credits: number;
    /** Median duration of successes in milliseconds, with an error of at most 10 %; null if there were none. */
    p50Ms: number | null;
    p95Ms: number | null;
}

export interface Slot extends Figures {
    from: Date;
}

interface UsageOverTime {
    /** Consecutive slots without a gap. The last one is not complete yet. */
    slots: Slot[];
    total: Figures;
}

export const DIMENSIONS = ['site', 'endpoint', 'key'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export interface Share extends Figures {
    site: string;
    endpoint: string;
    keyId: string;
}

const HOUR_S = 3600;

/** Calls over time, from hourly roll-ups. Slots begin at whole hours of UTC, days at midnight. @param slotHours 1 to 24 */
export async function usageOverTime(
    db: Db,
    scope: UsageScope,
    { slots, slotHours }: { slots: number; slotHours: number },
): Promise<UsageOverTime> {
    const seconds = slotHours * HOUR_S;
    const clock = await db.first(db.raw('floor(extract(epoch from app_now()) / ?)::bigint as slot', [seconds]));
    const first = (clock.slot - slots + 1) * seconds;
    const rows: (Counted & { slot: number })[] = await queryHours(db, scope)
        .where('h.hour', '>=', new Date(first * 1000))
        .groupBy('slot', 'h.bucket')
        .select({ ...countColumns(db), slot: db.raw('floor((extract(epoch from h.hour) - ?) / ?)::integer', [first, seconds]) });
    const bySlot = Map.groupBy(rows, ({ slot }) => slot);
    return {
        slots: Array.from({ length: slots }, (_, slot) => ({
            from: new Date((first + slot * seconds) * 1000),
            ...figuresOf(bySlot.get(slot) ?? []),
        })),
        total: figuresOf(rows),
    };
}

/** The sites, endpoints or keys with the most calls since a time, in descending order. */
export async function usageShares(
    db: Db,
    scope: UsageScope,
    { by, since, limit }: { by: Dimension; since: Date; limit: number },
): Promise<Share[]> {
    const ofOne = COLUMNS[by].map((name) => `h.${name}`);
    const calls = queryHours(db, scope).where('h.hour', '>=', since).groupBy(ofOne);
    const rows: (Counted & { site?: string; endpoint?: string; key_id?: string })[] = await mostCalled(db, calls, ofOne, limit);
    const shares = Map.groupBy(rows, ({ site, endpoint, key_id }) => JSON.stringify([site, endpoint, key_id]));
    return [...shares.values()].map((share) => ({
        site: share[0]?.site ?? '',
        endpoint: share[0]?.endpoint ?? '',
        keyId: share[0]?.key_id ?? '',
        ...figuresOf(share),
    }));
}

export const TOP_DIMENSIONS = ['site', 'endpoint', 'workspace', 'user'] as const;
export type TopDimension = (typeof TOP_DIMENSIONS)[number];

const TOP_COLUMNS: Record<TopDimension, readonly string[]> = {
    site: ['site'],
    endpoint: ['site', 'endpoint'],
    workspace: ['workspace_id'],
    user: ['user_id'],
};

/** The sites, endpoints, workspaces or users of the whole installation with the most calls since a time, in descending order. */
export async function topUsage(
    db: Db,
    { by, days, limit }: { by: TopDimension; days: number; limit: number },
): Promise<(Figures & { name: string[] })[]> {
    const ofOne = TOP_COLUMNS[by].map((name) => `h.${name}`);
    const calls = db('usage_hours as h')
        .where('h.hour', '>=', ago(db, `${days} days`))
        .groupBy(ofOne);
    const rows: (Counted & Record<string, string>)[] = await mostCalled(db, calls, ofOne, limit);
    const groups = Map.groupBy(rows, (row) => JSON.stringify(TOP_COLUMNS[by].map((name) => row[name])));
    return [...groups].map(([name, group]) => ({ name: JSON.parse(name) as string[], ...figuresOf(group) }));
}

/** Up to 200 sites that have been called since a time, ordered by name. */
export async function sitesCalled(
    db: Db,
    { workspaceId, userId }: Pick<UsageScope, 'workspaceId' | 'userId'>,
    since: Date,
): Promise<string[]> {
    const scope = { workspaceId, userId, site: undefined, endpoint: undefined, keyId: undefined };
    return queryHours(db, scope).where('h.hour', '>=', since).distinct('h.site').orderBy('h.site').limit(200).pluck('h.site');
}

/** The counts by bucket of the `limit` groups with the most calls. @param calls columns of `h`, grouped by `ofOne` */
function mostCalled(db: Db, calls: Knex.QueryBuilder, ofOne: readonly string[], limit: number): Knex.QueryBuilder {
    const best = calls
        .clone()
        .orderBy([{ column: db.raw('sum(h.calls)'), order: 'desc' }, ...ofOne])
        .limit(limit)
        .select(...ofOne, { all: db.raw('sum(h.calls)') });
    return calls
        .clone()
        .join(best.as('best'), (on) => {
            for (const column of ofOne) on.on(column.replace(/^h\./, 'best.'), column);
        })
        .groupBy('h.bucket', 'best.all')
        .orderBy([{ column: 'best.all', order: 'desc' }, ...ofOne])
        .select(...ofOne, countColumns(db));
}

function queryHours(db: Db, { workspaceId, userId, site, endpoint, keyId }: UsageScope): Knex.QueryBuilder {
    const scope = { 'h.workspace_id': workspaceId, 'h.user_id': userId, 'h.site': site, 'h.endpoint': endpoint, 'h.key_id': keyId };
    return db('usage_hours as h').where(definedConditions(scope));
}

interface Counted {
    bucket: number;
    calls: number;
    credits: number;
}

const COLUMNS = { site: ['site'], endpoint: ['site', 'endpoint'], key: ['key_id'] } as const satisfies Record<Dimension, readonly string[]>;

function countColumns(db: Db): Columns<Counted> {
    return { bucket: 'h.bucket', calls: db.raw('sum(h.calls)::bigint'), credits: db.raw('sum(h.credits)::bigint') };
}

function figuresOf(rows: readonly Counted[]): Figures {
    const sum = (pick: (row: Counted) => number, of = rows) => of.reduce((total, row) => total + pick(row), 0);
    const successes = rows.filter(({ bucket }) => bucket >= 0).toSorted((a, b) => a.bucket - b.bucket);
    return {
        calls: sum(({ calls }) => calls),
        successes: sum(({ calls }) => calls, successes),
        credits: sum(({ credits }) => credits),
        p50Ms: quantile(successes, 0.5),
        p95Ms: quantile(successes, 0.95),
    };
}

/** The rows must be in the order of their buckets. */
function quantile(successes: readonly Counted[], share: number): number | null {
    const all = successes.reduce((total, { calls }) => total + calls, 0);
    let upTo = 0;
    for (const { bucket, calls } of successes) {
        upTo += calls;
        if (upTo >= share * all) return fromBucket(bucket);
    }
    return null;
}
