import type { Knex } from 'knex';
import { type Db, now } from '../../platform/db.ts';
import { recordEvents } from '../events/events.ts';

/** Why a key ended. `member`: its member left, or proved an address that another person may have signed up with. */
type RevokeReason = 'revoked' | 'rotated' | 'reported' | 'member';

export interface RevokedKey {
    keyId: string;
    name: string;
    prefix: string;
    workspaceId: string;
    userId: string;
}

/** Revokes keys for good and records their events. Call it in a transaction. @param keys selects from `api_keys` */
export async function revokeKeys(
    trx: Db,
    keys: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
    reason: RevokeReason,
): Promise<RevokedKey[]> {
    const revoked: RevokedKey[] = await keys(trx('api_keys'))
        .where({ revoked_at: null })
        .update({ revoked_at: now(trx) })
        .returning(['id as keyId', 'name', 'prefix', 'workspace_id as workspaceId', 'user_id as userId']);
    await recordEvents(
        trx,
        revoked.map(({ keyId, name, prefix, workspaceId }) => ({
            type: 'key.revoked',
            workspaceId,
            data: { key_id: keyId, name, prefix, reason },
        })),
    );
    return revoked;
}
