import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { scopeText } from '../../shared/domain/accounts/scopes-text.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import * as keys from '../../shared/store/accounts/api-keys.ts';
import { recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { roleOf } from '../../shared/store/accounts/workspaces.ts';
import { type Done, done, table } from './command.ts';
import { AdminFault, audited, type Operator, workspaceOrFault } from './operator.ts';

export async function create(
    operator: Operator,
    options: { workspace: string; user?: string; name: string; expiresIn?: number; scopes?: Scopes },
): Promise<Done> {
    const { workspace, user, name, expiresIn, scopes = EVERY_SCOPE } = options;
    const made = await audited(operator, async (trx) => {
        const { workspaceId, ownerId } = await workspaceOrFault(trx, workspace);
        const userId = user ?? ownerId;
        if ((await roleOf(trx, workspaceId, userId)) === undefined) {
            throw new AdminFault('NOT_FOUND', `The user ${userId} is not a member of ${workspaceId}.`);
        }
        const result = await keys.createKey(trx, { workspaceId, userId, name, expiresIn, scopes });
        const details = { name, scopes: scopeText(scopes) };
        await recordAct(trx, { workspaceId, actor: 'operator', action: 'key.created', target: result.keyId, details });
        const after = { workspace_id: workspaceId, user_id: userId, expires_in: expiresIn ?? null, ...details };
        return { target: result.keyId, before: null, after, result };
    });
    return done({ key_id: made.keyId, api_key: made.apiKey });
}

export async function list({ db }: Operator, { workspace }: { workspace: string }): Promise<Done> {
    const { workspaceId } = await workspaceOrFault(db, workspace);
    const result = (await keys.listKeys(db, workspaceId)).map((key) => ({
        ...presentFields(key, 'key_id user_id name prefix created_at expires_at revoked_at last_used_at'),
        scopes: scopeText(key.scopes),
    }));
    return {
        result,
        lines: table(
            ['key', 'begins with', 'name', 'revoked', 'last used', 'expires', 'scopes', 'created'],
            result.map((key) => [
                ...[key.key_id, key.prefix, key.name, key.revoked_at, key.last_used_at, key.expires_at],
                ...[key.scopes, key.created_at],
            ]),
        ),
    };
}

export async function revoke(operator: Operator, keyId: string): Promise<Done> {
    await audited(operator, async (trx) => {
        const key = await keys.findKey(trx, keyId);
        if (key === undefined) throw new AdminFault('NOT_FOUND', `There is no key ${keyId}.`);
        const { workspaceId, name } = key;
        if (await keys.revokeKey(trx, keyId))
            await recordAct(trx, { workspaceId, actor: 'operator', action: 'key.revoked', target: keyId, details: { name } });
        return { target: keyId, before: { revoked: key.revokedAt !== null }, after: { revoked: true }, result: undefined };
    });
    return done({ key_id: keyId, revoked: true });
}
