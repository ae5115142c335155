export const YANK_REASONS = ['broken', 'security', 'legal'] as const;
export type YankReason = (typeof YANK_REASONS)[number];

/** One version of a site, without its package. */
export interface VersionRef {
    versionId: number;
    version: number;
    versionHash: string;
    publishedAt: Date;
    verifiedAt: Date | null;
    yankReason: YankReason | null;
}

/** Whether a version may be run when it is named: a `broken` one may, `security` and `legal` never. */
export function mayRun(version: VersionRef): boolean {
    return version.yankReason === null || version.yankReason === 'broken';
}

/** Of `versions v`. */
export const VERSION_COLUMNS = 'v.id as version_id, v.version, v.version_hash, v.published_at, v.verified_at, v.yank_reason';

export interface VersionColumns {
    version_id: number;
    version: number;
    version_hash: string;
    published_at: Date;
    verified_at: Date | null;
    yank_reason: YankReason | null;
}

/** A row of `VERSION_COLUMNS` in the words of the domain. */
export function toVersionRef(row: VersionColumns): VersionRef {
    return {
        versionId: row.version_id,
        version: row.version,
        versionHash: row.version_hash,
        publishedAt: row.published_at,
        verifiedAt: row.verified_at,
        yankReason: row.yank_reason,
    };
}
