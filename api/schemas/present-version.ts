import type { VersionEntry } from '../../shared/contracts/versions.ts';
import type { HistoryRow } from '../../shared/store/registry/schemas.ts';

export function presentVersion(version: HistoryRow): VersionEntry {
    const { added, removed, changed, hosts_added } = version.changes;
    return {
        version: version.version,
        version_hash: version.versionHash,
        published_at: version.publishedAt.toISOString(),
        published_by: version.publishedBy,
        verified: version.verifiedAt !== null,
        yanked: version.yankedAt !== null,
        change: version.change,
        changes: { added, removed, changed, hosts_added },
    };
}
