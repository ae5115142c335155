import type { Db } from '../db.ts';

/** The hash of a key that somebody made in a workspace, by which its caller is found (`keys.find`); undefined for anybody else's. */
export async function hashOfOwnKey(
    db: Db,
    { keyId, workspaceId, userId }: { keyId: string; workspaceId: string; userId: string },
): Promise<Buffer | undefined> {
    const { rows } = await db.raw<{ rows: { hash: Buffer }[] }>(
        'select hash from api_keys where id = ? and workspace_id = ? and user_id = ?',
        [keyId, workspaceId, userId],
    );
    return rows[0]?.hash;
}
