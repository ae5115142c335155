import type { Db } from '../../platform/db.ts';
import { findLookAlikes, type LookAlike } from './look-alikes.ts';
import type { YankReason } from './version-rows.ts';

/** Warnings for people before they use a site, besides its card. */
export interface SiteWarnings {
    isBlocked: boolean;
    /** Since when the latest version is no longer verified; null where it did not drift. */
    driftedAt: Date | null;
    /** Versions above the latest that were taken out of use, the highest first; a few. */
    yanked: { version: number; reason: YankReason }[];
    /** The older domain that this one resembles. */
    lookAlikes: LookAlike[];
}

/** The warnings of a site that has a version in use. */
export async function siteWarnings(db: Db, { site, registrable }: { site: string; registrable: string }): Promise<SiteWarnings> {
    const [{ rows }, lookAlikes] = await Promise.all([
        db.raw<{ rows: WarningColumns[] }>(
            `select coalesce(d.is_blocked, false) as is_blocked, v.drifted_at,
                    (select coalesce(json_agg(y order by y.version desc), '[]') from (
                         select n.version, n.yank_reason as reason from versions n
                         where n.site = s.site and n.version > v.version and n.yanked_at is not null
                         order by n.version desc limit 3) as y) as yanked
             from sites s join domains d on d.registrable = s.registrable join versions v on v.id = s.latest_version_id
             where s.site = ?`,
            [site],
        ),
        olderLookAlikes(db, registrable),
    ]);
    const row = rows[0];
    return {
        isBlocked: row?.is_blocked ?? false,
        driftedAt: row?.drifted_at ?? null,
        yanked: row?.yanked ?? [],
        lookAlikes,
    };
}

interface WarningColumns {
    is_blocked: boolean;
    drifted_at: Date | null;
    yanked: { version: number; reason: YankReason }[];
}

/** The older site is not the one to warn about. */
async function olderLookAlikes(db: Db, registrable: string): Promise<LookAlike[]> {
    const { rows: own } = await db.raw<{ rows: { workspace_id: string }[] }>(
        'select workspace_id from maintainers where registrable = ? order by added_at, workspace_id limit 1',
        [registrable],
    );
    // A domain of the starter registry has no maintainer and is no copy.
    const maintainer = own[0]?.workspace_id;
    if (maintainer === undefined) return [];
    const alike = await findLookAlikes(db, registrable, maintainer);
    if (alike.length === 0) return [];
    const { rows } = await db.raw<{ rows: { registrable: string }[] }>(
        `select registrable from domains where registrable = any(?::text[])
           and created_at <= (select created_at from domains where registrable = ?)`,
        [alike.map((one) => one.registrable), registrable],
    );
    const older = new Set(rows.map((row) => row.registrable));
    return alike.filter((one) => older.has(one.registrable));
}
