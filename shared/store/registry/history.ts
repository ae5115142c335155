import type { PackageChanges } from '../../domain/package/diff.ts';
import type { Db } from '../../platform/db.ts';
import { toVersionRef, VERSION_COLUMNS, type VersionColumns, type VersionRef } from './version-rows.ts';

export interface HistoryRow extends VersionRef {
    /** Name of the workspace. */
    publishedBy: string;
    yankedAt: Date | null;
    isYankedByOperator: boolean;
    change: 'major' | 'minor' | 'patch';
    changes: PackageChanges;
}

/** A version by number or by hash; of equal hashes the newest that is not yanked, otherwise the newest. */
export async function findVersion(db: Db, site: string, named: number | string): Promise<HistoryRow | undefined> {
    const { rows } = await db.raw<{ rows: HistoryColumns[] }>(
        `${HISTORY} where v.site = ? and ${typeof named === 'number' ? 'v.version = ?' : 'v.version_hash = ?'}
         order by v.yanked_at is not null, v.version desc limit 1`,
        [site, named],
    );
    return rows[0] && toHistoryRow(rows[0]);
}

/** Versions of a site, newest first, from below version `before`; and how many there are in all. */
export async function history(
    db: Db,
    site: string,
    page: { limit: number; before?: number | undefined },
): Promise<{ versions: HistoryRow[]; total: number }> {
    const { rows } = await db.raw<{ rows: HistoryColumns[] }>(
        `${HISTORY} where v.site = ? and v.version < ? order by v.version desc limit ?`,
        [site, page.before ?? 2_147_483_647, page.limit],
    );
    const counted = await db.raw<{ rows: { versions: number }[] }>('select versions from sites where site = ?', [site]);
    return { versions: rows.map(toHistoryRow), total: counted.rows[0]?.versions ?? 0 };
}

const HISTORY = `select ${VERSION_COLUMNS}, v.yanked_at, v.yanked_by_operator, v.change, v.changes, w.name as published_by
    from versions v join workspaces w on w.id = v.published_by_workspace`;

interface HistoryColumns extends VersionColumns {
    yanked_at: Date | null;
    yanked_by_operator: boolean;
    change: HistoryRow['change'];
    changes: HistoryRow['changes'];
    published_by: string;
}

function toHistoryRow(row: HistoryColumns): HistoryRow {
    return {
        ...toVersionRef(row),
        publishedBy: row.published_by,
        yankedAt: row.yanked_at,
        isYankedByOperator: row.yanked_by_operator,
        change: row.change,
        changes: row.changes,
    };
}
