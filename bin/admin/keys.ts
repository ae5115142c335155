import type { Command } from 'commander';
import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { scopeText } from '../../shared/domain/accounts/scopes-text.ts';
import * as keys from '../../shared/store/accounts/api-keys.ts';
import { recordAct } from '../../shared/store/accounts/workspace-audit.ts';
import { roleOf } from '../../shared/store/accounts/workspaces.ts';
import { fields, idOf, line, type Run, table, type Work, wholeNumber } from './command.ts';
import { AdminFault, audited } from './operator.ts';
import { SCOPES_HELP, scopesOf } from './scopes.ts';
import { workspaceOrFault } from './workspaces.ts';

/** A century: longer is a slip of the finger. */
const LONGEST_SECONDS = 3_155_760_000;

interface CreateOptions {
    workspace: string;
    user?: string;
    name: string;
    expiresIn?: number;
    scopes?: Scopes;
}

/** `key create | list | revoke`. */
export function addKeyCommands(program: Command, run: Run): void {
    const key = program.command('key').description('API keys');
    key.command('create')
        .description('make a key; it is shown this once')
        .requiredOption('--workspace <id>', 'wsp_…', idOf('wsp'))
        .option('--user <id>', 'whose key it is; the owner by default', idOf('usr'))
        .option('--name <text>', 'what it is for', line(100), 'admin')
        .option('--expires-in <seconds>', 'how long it works', wholeNumber(1, LONGEST_SECONDS))
        .option('--scopes <parts>', SCOPES_HELP, scopesOf)
        .action((options: CreateOptions) => run(create(options)));
    key.command('list')
        .description('list the keys of a workspace')
        .requiredOption('--workspace <id>', 'wsp_…', idOf('wsp'))
        .action(({ workspace }: { workspace: string }) => run(list(workspace)));
    key.command('revoke')
        .description('end a key, within a second')
        .argument('<key>', 'key_…', idOf('key'))
        .action((keyId: string) => run(revoke(keyId)));
}

function create({ workspace, user, name, expiresIn, scopes = EVERY_SCOPE }: CreateOptions): Work {
    return async (operator) => {
        const made = await audited(operator, { command: 'key create' }, async (trx) => {
            const { workspaceId, ownerId } = await workspaceOrFault(trx, workspace);
            const userId = user ?? ownerId;
            if ((await roleOf(trx, workspaceId, userId)) === undefined) {
                throw new AdminFault('NOT_FOUND', `The user ${userId} is no member of ${workspaceId}.`);
            }
            const result = await keys.createKey(trx, { workspaceId, userId, name, expiresIn, scopes });
            const details = { name, scopes: scopeText(scopes) };
            await recordAct(trx, { workspaceId, actor: 'operator', action: 'key.created', target: result.keyId, details });
            const after = { workspace_id: workspaceId, user_id: userId, expires_in: expiresIn ?? null, ...details };
            return { target: result.keyId, before: null, after, result };
        });
        const result = { key_id: made.keyId, api_key: made.apiKey };
        return { result, lines: fields(result) };
    };
}

function list(workspace: string): Work {
    return async ({ db }) => {
        const { workspaceId } = await workspaceOrFault(db, workspace);
        const result = (await keys.listKeys(db, workspaceId)).map((key) => ({
            key_id: key.keyId,
            user_id: key.userId,
            name: key.name,
            prefix: key.prefix,
            created_at: key.createdAt.toISOString(),
            expires_at: key.expiresAt?.toISOString() ?? null,
            revoked_at: key.revokedAt?.toISOString() ?? null,
            last_used_at: key.lastUsedAt?.toISOString() ?? null,
            scopes: scopeText(key.scopes),
        }));
        const heads = ['key', 'name', 'begins with', 'created', 'expires', 'revoked', 'last used', 'scopes'];
        const rows = result.map((key) => [
            key.key_id,
            key.name,
            key.prefix,
            key.created_at,
            key.expires_at,
            key.revoked_at,
            key.last_used_at,
            key.scopes,
        ]);
        return { result, lines: table(heads, rows) };
    };
}

function revoke(keyId: string): Work {
    return async (operator) => {
        await audited(operator, { command: 'key revoke' }, async (trx) => {
            const key = await keys.findKey(trx, keyId);
            if (key === undefined) throw new AdminFault('NOT_FOUND', `There is no key ${keyId}.`);
            if (await keys.revokeKey(trx, keyId)) {
                const details = { name: key.name };
                await recordAct(trx, { workspaceId: key.workspaceId, actor: 'operator', action: 'key.revoked', target: keyId, details });
            }
            return { target: keyId, before: { revoked: key.revokedAt !== null }, after: { revoked: true }, result: undefined };
        });
        const result = { key_id: keyId, revoked: true };
        return { result, lines: fields(result) };
    };
}
