import type { Db } from '../../platform/db.ts';

export interface RecentCall {
    at: Date;
    site: string;
    /** Null for a look-up in the catalog. */
    endpoint: string | null;
    outcome: string;
    credits: number;
    durationMs: number;
}

/** The latest calls of a workspace that one account paid for, newest first. `byUser` keeps one user's calls only. */
export async function recentCalls(
    db: Db,
    { accountId, workspaceId, byUser, most }: { accountId: string; workspaceId: string; byUser?: string | undefined; most: number },
): Promise<RecentCall[]> {
    const { rows } = await db.raw<{ rows: RecentCall[] }>(
        `select at, site, endpoint, outcome, credits, duration_ms as "durationMs" from usage
         where account_id = ? and workspace_id = ? and (?::text is null or user_id = ?) order by at desc, id desc limit ?`,
        [accountId, workspaceId, byUser ?? null, byUser ?? null, most],
    );
    return rows;
}
