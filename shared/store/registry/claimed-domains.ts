import type { Db } from '../../platform/db.ts';

/** A domain that a workspace has claims on. */
export interface ClaimedDomain {
    registrable: string;
    claims: number;
    provenAt: Date | null;
    /** Whether a lookup of an unproven claim found no proof. */
    hasFailed: boolean;
    /** When the last unproven claim is gone; null where there is none. */
    expiresAt: Date | null;
}

/** Domains that a workspace claims or owns, by name. @param after the name before the first of them */
export async function claimedDomains(
    db: Db,
    workspaceId: string,
    { limit, after = '' }: { limit: number; after: string | undefined },
): Promise<ClaimedDomain[]> {
    const { rows } = await db.raw<{
        rows: { registrable: string; claims: number; proven_at: Date | null; has_failed: boolean; expires_at: Date | null }[];
    }>(
        `select registrable, count(*) as claims, min(proven_at) as proven_at, bool_or(status = 'failed') as has_failed,
                max(expires_at) filter (where status <> 'proven') as expires_at
         from claims where workspace_id = ? and registrable > ? and (status = 'proven' or expires_at > app_now())
         group by registrable order by registrable limit ?`,
        [workspaceId, after, limit],
    );
    return rows.map((row) => ({
        registrable: row.registrable,
        claims: row.claims,
        provenAt: row.proven_at,
        hasFailed: row.has_failed,
        expiresAt: row.expires_at,
    }));
}
