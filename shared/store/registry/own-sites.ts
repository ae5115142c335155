import type { Db } from '../../platform/db.ts';

/** A site that a workspace maintains. */
export interface OwnSite {
    site: string;
    title: string;
    /** How many versions it ever had. */
    versions: number;
    /** The one in use; null where all were taken out of it. */
    latest: number | null;
    publishedAt: Date | null;
    verifiedAt: Date | null;
    driftedAt: Date | null;
}

/** Sites on the domains that a workspace maintains, by name, from behind `after`. */
export async function ownSites(
    db: Db,
    workspaceId: string,
    { limit, after = '' }: { limit: number; after?: string | undefined },
): Promise<OwnSite[]> {
    const { rows } = await db.raw<{ rows: OwnSite[] }>(
        `select s.site, s.title, s.versions, v.version as latest, s.published_at as "publishedAt", s.verified_at as "verifiedAt",
                v.drifted_at as "driftedAt"
         from maintainers m join sites s on s.registrable = m.registrable left join versions v on v.id = s.latest_version_id
         where m.workspace_id = ? and s.site > ? order by s.site limit ?`,
        [workspaceId, after, limit],
    );
    return rows;
}
