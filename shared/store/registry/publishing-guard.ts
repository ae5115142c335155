import type { Db } from '../../platform/db.ts';
import type { Publisher, PublishRefusal } from './publish-order.ts';

const VERSIONS_AN_HOUR = 60;
const SITES_A_DAY = 20;

/**
 * The publishing guard: new versions an hour and new sites a day per account, over a sliding window; undefined where it lets
 * the publish through. The account's publishes are serialised by `lockDomain`, so that the count is exact.
 */
export async function guardPublishing(db: Db, publisher: Publisher | undefined, isNewSite: boolean): Promise<PublishRefusal | undefined> {
    if (publisher === undefined || !publisher.isGuarded) return undefined;
    const { rows } = await db.raw<{ rows: { version_wait: number | null; site_wait: number | null }[] }>(
        `select ${waitFor('1 hour', VERSIONS_AN_HOUR, 'true')} as version_wait, ${waitFor('24 hours', SITES_A_DAY, 'version = 1')} as site_wait`,
        [publisher.accountId, publisher.accountId],
    );
    const versionWait = rows[0]?.version_wait ?? null;
    const siteWait = isNewSite ? (rows[0]?.site_wait ?? null) : null;
    if (versionWait === null && siteWait === null) return undefined;
    const window = (siteWait ?? 0) > (versionWait ?? 0) ? 'sites_per_day' : 'versions_per_hour';
    return { ok: false, code: 'RATE_LIMITED', window, retryAfter: Math.max(versionWait ?? 0, siteWait ?? 0) };
}

/** Seconds until the oldest of the last `limit` leaves the window; null while there are fewer in it. */
function waitFor(span: string, limit: number, which: string): string {
    return `(select greatest(1, ceil(extract(epoch from published_at + interval '${span}' - app_now())))::integer
             from versions where published_by_account = ? and published_at > app_now() - interval '${span}' and ${which}
             order by published_at desc offset ${limit - 1} limit 1)`;
}
