import type { Change, PackageChanges } from '../../domain/package/diff.ts';
import type { YankReason } from '../../domain/package/registry-choices.ts';
import { type Columns, columnList, columns, type Db } from '../../platform/db.ts';
import type { FoundPage, PageOrder } from '../../platform/row-page.ts';

export interface VersionRef {
    versionId: number;
    version: number;
    versionHash: string;
    publishedAt: Date;
    verifiedAt: Date | null;
    yankReason: YankReason | null;
}

const VERSION_REF = {
    versionId: 'v.id',
    ...columns('v', 'version version_hash published_at verified_at yank_reason'),
} satisfies Columns<VersionRef>;

export const VERSION_COLUMNS = columnList(VERSION_REF);

/** The version in a row that also has other columns; undefined if a join found no version. */
export function versionIn(row: VersionRef | { versionId: null }): VersionRef | undefined {
    if (row.versionId === null) return undefined;
    const { versionId, version, versionHash, publishedAt, verifiedAt, yankReason } = row;
    return { versionId, version, versionHash, publishedAt, verifiedAt, yankReason };
}

/** Whether a version may run if the call names it. A `broken` version may; versions yanked for `security` or `legal` reasons may not. */
export function mayRun(version: VersionRef): boolean {
    return version.yankReason === null || version.yankReason === 'broken';
}

export interface HistoryRow extends VersionRef {
    /** The name of the workspace. */
    publishedBy: string;
    yankedAt: Date | null;
    isYankedByOperator: boolean;
    change: Change;
    changes: PackageChanges;
}

const HISTORY: Columns<HistoryRow> = {
    ...VERSION_REF,
    publishedBy: 'w.name',
    yankedAt: 'v.yanked_at',
    isYankedByOperator: 'v.yanked_by_operator',
    change: 'v.change',
    changes: 'v.changes',
};

/** Finds a version by number or by hash. If several have the same hash, returns the newest one that is not yanked, otherwise the newest. */
export async function findVersion(db: Db, site: string, named: number | string): Promise<HistoryRow | undefined> {
    return versionsOf(db, site)
        .where(typeof named === 'number' ? 'v.version' : 'v.version_hash', named)
        .orderByRaw('v.yanked_at is not null, v.version desc')
        .first(HISTORY);
}

/** A page of the versions of a site, newest first. Their numbers have no gaps. */
export async function findHistory(db: Db, site: string, { limit, after }: PageOrder<number>): Promise<FoundPage<HistoryRow, number>> {
    const versions = versionsOf(db, site).orderBy('v.version', 'desc').limit(limit);
    if (after !== undefined) versions.where('v.version', '<', after);
    const rows: HistoryRow[] = await versions.select(HISTORY);
    const lowest = rows.at(-1)?.version ?? 1;
    const known = await db('sites').where({ site }).first('versions');
    return { rows, next: lowest > 1 ? lowest : undefined, total: known?.versions ?? 0 };
}

export async function versionNames(db: Db, ids: readonly number[]): Promise<Map<number, { site: string; version: number }>> {
    const rows: { id: number; site: string; version: number }[] = await db('versions').whereIn('id', ids).select('id', 'site', 'version');
    return new Map(rows.map(({ id, site, version }) => [id, { site, version }]));
}

function versionsOf(db: Db, site: string) {
    return db('versions as v').join('workspaces as w', 'w.id', 'v.published_by_workspace').where({ 'v.site': site });
}
