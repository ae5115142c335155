import type { Db } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { queueMail } from './mails.ts';
import { recordAct } from './workspace-audit.ts';

/**
 * Revokes the keys with these hashes, records it and mails their owners, once a key. Resolves with the hashes, in base64, of all that
 * are or were keys of ours.
 */
export async function revokeReported(
    { db, secrets }: { db: Db; secrets: Secrets },
    hashes: readonly Buffer[],
    publicUrl: string,
): Promise<Set<string>> {
    const { rows: known } = await db.raw<{ rows: { hash: Buffer }[] }>('select hash from api_keys where hash = any(?::bytea[])', [
        [...hashes],
    ]);
    if (known.length > 0) await db.transaction((trx) => revoke(trx, secrets, { hashes: known.map(({ hash }) => hash), publicUrl }));
    return new Set(known.map(({ hash }) => hash.toString('base64')));
}

async function revoke(trx: Db, secrets: Secrets, { hashes, publicUrl }: { hashes: Buffer[]; publicUrl: string }): Promise<void> {
    const { rows } = await trx.raw<{
        rows: { id: string; name: string; prefix: string; workspace_id: string; email: string; is_verified: boolean }[];
    }>(
        `update api_keys k set revoked_at = app_now() from users u
         where k.hash = any(?::bytea[]) and k.revoked_at is null and u.id = k.user_id
         returning k.id, k.name, k.prefix, k.workspace_id, u.email, u.verified_at is not null as is_verified`,
        [hashes],
    );
    for (const { id, name, prefix, workspace_id: workspaceId, email, is_verified } of rows) {
        await recordAct(trx, { workspaceId, actor: 'system', action: 'key.reported', target: id, details: { name } });
        // An address that nobody confirmed may be a stranger's.
        if (!is_verified) continue;
        await queueMail(trx, secrets, {
            to: email,
            subject: 'A leaked API key of yours was revoked',
            text: `Somebody found your API key "${name}" (${prefix}…) where others can read it, and reported it. It is revoked and no longer works.

Make another key: ${publicUrl}/dashboard/keys

Take the old one out of wherever it was published, and look at the recent calls of your workspace for any that are not yours.
`,
        });
    }
}
