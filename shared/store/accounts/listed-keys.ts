import { isWider, type Scopes } from '../../domain/accounts/scopes.ts';
import type { Db } from '../../platform/db.ts';
import { setKeyCap } from '../credits/spending.ts';
import { createKey, findKey, type KeyRow, listKeys, type NewKey } from './api-keys.ts';
import { lockForAdding } from './workspaces.ts';

/** A key as the members of its workspace see it. */
export interface ListedKey extends KeyRow {
    /** Address of the member who made it. */
    madeBy: string;
    state: 'active' | 'expired' | 'revoked';
}

/** Keys of one workspace that work at the same time. */
export const MOST_KEYS = 100;

/** The keys of a workspace, those that work first, then newest first; `ofUser` shows one member's alone. */
export async function listedKeys(db: Db, workspaceId: string, ofUser?: string): Promise<ListedKey[]> {
    const keys = await listKeys(db, workspaceId);
    const { rows } = await db.raw<{ rows: { id: string; email: string; is_over: boolean }[] }>(
        `select k.id, u.email, k.expires_at <= app_now() as is_over from api_keys k join users u on u.id = k.user_id where k.workspace_id = ?`,
        [workspaceId],
    );
    const about = new Map(rows.map((row) => [row.id, row]));
    const managed = keys.flatMap((key): ListedKey[] => {
        const row = about.get(key.keyId);
        if (row === undefined || (ofUser !== undefined && key.userId !== ofUser)) return [];
        const state = key.revokedAt !== null ? 'revoked' : row.is_over ? 'expired' : 'active';
        return [{ ...key, madeBy: row.email, state }];
    });
    return [...managed.filter(({ state }) => state === 'active'), ...managed.filter(({ state }) => state !== 'active')];
}

/** One more key of a workspace; undefined where too many work already. */
export async function addKey(
    db: Db,
    order: { workspaceId: string; userId: string; name: string; expiresIn?: number | undefined; scopes?: Scopes | undefined },
): Promise<NewKey | undefined> {
    return db.transaction(async (trx) => {
        await lockForAdding(trx, order);
        return (await countActive(trx, order.workspaceId)) >= MOST_KEYS ? undefined : createKey(trx, order);
    });
}

export type Rotated = { ok: true; made: NewKey } | { ok: false; why: 'ended' | 'too many' };

/**
 * A new key in the place of an active one, with the same name, cap and scopes; the old one ends after `overlapSeconds`, or earlier where it
 * would have. The new one lasts as long as the old one was made for, from now on. Refused where the old one ended meanwhile, or where
 * both together would be too many; then nothing changed.
 */
export async function rotateKey(db: Db, keyId: string, overlapSeconds: number): Promise<Rotated> {
    return db.transaction(async (trx) => {
        const key = await findKey(trx, keyId);
        if (key === undefined) return { ok: false, why: 'ended' };
        const { workspaceId, userId, name } = key;
        await lockForAdding(trx, key);
        const { rows } = await trx.raw<{ rows: { lasts: number | null; day_cap: number | null; scopes: Scopes }[] }>(
            `select day_cap, scopes, extract(epoch from expires_at - created_at)::bigint as lasts from api_keys
             where id = ? and ${IS_ACTIVE} for update`,
            [keyId],
        );
        const old = rows[0];
        if (old === undefined) return { ok: false, why: 'ended' };
        // With an overlap both work for a while.
        const beside = (await countActive(trx, workspaceId)) - (overlapSeconds === 0 ? 1 : 0);
        if (beside >= MOST_KEYS) return { ok: false, why: 'too many' };
        await trx.raw(
            `update api_keys set expires_at = least(expires_at, app_now() + :overlap * interval '1 second'),
                    revoked_at = case when :overlap = 0 then app_now() end
             where id = :keyId`,
            { keyId, overlap: overlapSeconds },
        );
        const made = await createKey(trx, { workspaceId, userId, name, expiresIn: old.lasts ?? undefined, scopes: old.scopes });
        if (old.day_cap !== null) await setKeyCap(trx, made.keyId, old.day_cap);
        return { ok: true, made };
    });
}

const IS_ACTIVE = 'revoked_at is null and (expires_at is null or expires_at > app_now())';

/** Callers hold a lock on the workspace's row. */
async function countActive(db: Db, workspaceId: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ count: number }] }>(`select count(*) from api_keys where workspace_id = ? and ${IS_ACTIVE}`, [
        workspaceId,
    ]);
    return rows[0].count;
}

/** Gives a key another name. */
export async function renameKey(db: Db, keyId: string, name: string): Promise<void> {
    await db.raw('update api_keys set name = ? where id = ?', [name, keyId]);
}

/**
 * Gives an active key other scopes, which hold within a second in every process.
 * `wider`: they allow more than before, which `mayWiden` does not permit; `ended`: the key does not work any more. Then nothing changed.
 */
export async function changeScopes(
    db: Db,
    keyId: string,
    { scopes, mayWiden }: { scopes: Scopes; mayWiden: boolean },
): Promise<'changed' | 'wider' | 'ended'> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: { scopes: Scopes }[] }>(
            `select scopes from api_keys where id = ? and ${IS_ACTIVE} for update`,
            [keyId],
        );
        const before = rows[0]?.scopes;
        if (before === undefined) return 'ended';
        if (!mayWiden && isWider(scopes, before)) return 'wider';
        await trx.raw('update api_keys set scopes = ?::jsonb where id = ?', [JSON.stringify(scopes), keyId]);
        return 'changed';
    });
}

/** The hash of a key that this user made in this workspace; undefined for any other key. */
export async function findKeyHash(
    db: Db,
    { keyId, workspaceId, userId }: { keyId: string; workspaceId: string; userId: string },
): Promise<Buffer | undefined> {
    const { rows } = await db.raw<{ rows: { hash: Buffer }[] }>(
        'select hash from api_keys where id = ? and workspace_id = ? and user_id = ?',
        [keyId, workspaceId, userId],
    );
    return rows[0]?.hash;
}
