import type { Db } from '../../platform/db.ts';
import { fromBucket } from './traffic.ts';

/** Whose calls, and which of them. What is undefined does not narrow. */
export interface UsageScope {
    workspaceId: string;
    /** One member's calls alone. */
    userId: string | undefined;
    site: string | undefined;
    /** `''` for look-ups in the catalog. */
    endpoint: string | undefined;
    keyId: string | undefined;
}

/** Figures of some calls. */
export interface Figures {
    calls: number;
    successes: number;
    credits: number;
    /** Milliseconds that successes took, at most 10 % off; null without one. */
    p50Ms: number | null;
    p95Ms: number | null;
}

export interface Slot extends Figures {
    from: Date;
}

export interface UsageOverTime {
    /** One after another, without a gap; the last one is not over yet. */
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

/**
 * Calls over time, from hours that are rolled up. Slots begin at whole hours of UTC, days at midnight.
 * @param slotHours 1 to 24
 */
export async function usageOverTime(
    db: Db,
    scope: UsageScope,
    { slots, slotHours }: { slots: number; slotHours: number },
): Promise<UsageOverTime> {
    const { rows } = await db.raw<{ rows: { first: Date; slot: number | null; bucket: number; calls: number; credits: number }[] }>(
        `with range as materialized (
             select to_timestamp(floor(extract(epoch from app_now()) / :seconds) * :seconds - (:slots - 1) * :seconds) as first
         )
         select range.first, summed.* from range left join lateral (
             select floor(extract(epoch from h.hour - range.first) / :seconds)::integer as slot, h.bucket,
                    sum(h.calls)::bigint as calls, sum(h.credits)::bigint as credits
             from usage_hours h where ${WITHIN} and h.hour >= range.first group by 1, 2
         ) as summed on true`,
        { ...valuesOf(scope), slots, seconds: slotHours * HOUR_S },
    );
    const first = rows[0]?.first.getTime() ?? 0;
    const bySlot = Map.groupBy(rows, ({ slot }) => slot);
    const counted = rows.filter(({ slot }) => slot !== null);
    return {
        slots: Array.from({ length: slots }, (_, slot) => ({
            from: new Date(first + slot * slotHours * HOUR_S * 1000),
            ...figuresOf(bySlot.get(slot) ?? []),
        })),
        total: figuresOf(counted),
    };
}

/** The sites, endpoints or keys with the most calls since a moment, most first. */
export async function usageShares(
    db: Db,
    scope: UsageScope,
    { by, since, most }: { by: Dimension; since: Date; most: number },
): Promise<Share[]> {
    const named = COLUMNS[by];
    const { rows } = await db.raw<{ rows: (Counted & { site: string; endpoint: string; key_id: string })[] }>(
        `with counted as (
             select ${named}, h.bucket, sum(h.calls)::bigint as calls, sum(h.credits)::bigint as credits
             from usage_hours h where ${WITHIN} and h.hour >= :since group by 1, 2, 3, 4
         ), best as (
             select site, endpoint, key_id, sum(calls) as all_calls from counted group by 1, 2, 3 order by 4 desc, 1, 2, 3 limit :most
         )
         select counted.* from best join counted using (site, endpoint, key_id) order by best.all_calls desc, site, endpoint, key_id`,
        { ...valuesOf(scope), since, most },
    );
    const shares = Map.groupBy(rows, ({ site, endpoint, key_id }) => JSON.stringify([site, endpoint, key_id]));
    return [...shares.values()].map((ofOne) => ({
        site: ofOne[0]?.site ?? '',
        endpoint: ofOne[0]?.endpoint ?? '',
        keyId: ofOne[0]?.key_id ?? '',
        ...figuresOf(ofOne),
    }));
}

/** The sites that were called since a time, by name, up to a limit. */
export async function sitesCalled(db: Db, scope: Pick<UsageScope, 'workspaceId' | 'userId'>, since: Date, most = 200): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { site: string }[] }>(
        `select distinct h.site from usage_hours h where ${WITHIN} and h.hour >= :since order by h.site limit :most`,
        { ...valuesOf({ ...scope, site: undefined, endpoint: undefined, keyId: undefined }), since, most },
    );
    return rows.map(({ site }) => site);
}

interface Counted {
    bucket: number;
    calls: number;
    credits: number;
}

const WITHIN = `h.workspace_id = :workspaceId and (cast(:userId as text) is null or h.user_id = :userId)
    and (cast(:site as text) is null or h.site = :site) and (cast(:endpoint as text) is null or h.endpoint = :endpoint)
    and (cast(:keyId as text) is null or h.key_id = :keyId)`;

const COLUMNS: Readonly<Record<Dimension, string>> = {
    site: "h.site, '' as endpoint, '' as key_id",
    endpoint: "h.site, h.endpoint, '' as key_id",
    key: "'' as site, '' as endpoint, h.key_id",
};

function valuesOf({ workspaceId, userId, site, endpoint, keyId }: UsageScope) {
    return { workspaceId, userId: userId ?? null, site: site ?? null, endpoint: endpoint ?? null, keyId: keyId ?? null };
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

/** Of rows in the order of their buckets. */
function quantile(successes: readonly Counted[], share: number): number | null {
    const all = successes.reduce((total, { calls }) => total + calls, 0);
    let upTo = 0;
    for (const { bucket, calls } of successes) {
        upTo += calls;
        if (upTo >= share * all) return fromBucket(bucket);
    }
    return null;
}
