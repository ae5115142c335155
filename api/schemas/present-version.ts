import type { VersionEntry } from '../../shared/contracts/versions.ts';
import type { HistoryRow } from '../../shared/store/schemas.ts';

/** Whom cards and histories name where no workspace stands behind a site: the starter registry's. */
export const NOBODY = 'Routebook';

/** One version as its history shows it. */
export function presentVersion(version: HistoryRow): VersionEntry {
    const { added, removed, changed } = version.changes;
    return {
        version: version.version,
        version_hash: version.versionHash,
        published_at: version.publishedAt.toISOString(),
        published_by: version.publishedBy ?? NOBODY,
        verified: version.verifiedAt !== null,
        yanked: version.yankedAt !== null,
        change: version.change,
        changes: { added, removed, changed },
    };
}
