import { userInfo } from 'node:os';
import type { JsonObject } from '../../shared/domain/types.ts';
import { type Config, readConfig } from '../../shared/platform/config.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { findRunning } from '../../shared/platform/embedded-postgres.ts';
import { createSecrets, type Secrets } from '../../shared/platform/secrets.ts';
import type { RefusalCode } from '../../shared/refusals.ts';
import { recordChange } from '../../shared/store/accounts/audit.ts';
import { findWorkspace, type Workspace } from '../../shared/store/accounts/workspaces.ts';
import { readSecretKeys } from '../secret-keys.ts';

/** An error that the operator can fix. Its message is printed unchanged. */
export class AdminFault extends Error {
    readonly code: RefusalCode;

    constructor(code: RefusalCode, message: string) {
        super(message);
        this.name = 'AdminFault';
        this.code = code;
    }
}

export interface Operator {
    db: Db;
    secrets: Secrets;
    /** The id of the first key of SECRET_KEYS, which encrypts. Undefined if the key ring is in the database. */
    secretKeyId: string | undefined;
    /** Addresses besides public https that packages may use. */
    egressAllow: Config['egressAllow'];
    embeddings: Config['embeddings'];
    /** For the audit log: the operator and the name of the command. */
    actor: string;
    command: string;
    /** Whether a program reads the result, so that nobody can be asked. */
    isJson: boolean;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Opens DATABASE_URL, or the embedded database that runs on DATA_DIR. The caller has to close `db`. */
export async function openOperator(command: string, isJson: boolean, env?: Env): Promise<Operator> {
    const { databaseUrl, dataDir, secretKeys, egressAllow, embeddings } = readConfig(env);
    const url = databaseUrl ?? findRunning(dataDir);
    if (url === undefined) {
        throw new AdminFault('SERVICE_UNAVAILABLE', `no database runs on ${dataDir}: set DATABASE_URL, or start one with npm start`);
    }
    const db = openDb({ url, poolSize: 2, acquireTimeoutMs: 5000, name: 'routebook-admin' });
    const keys = secretKeys.length > 0 ? secretKeys : readSecretKeys(dataDir);
    // The services warn at each start if the key ring is in the database. A command does not repeat this.
    const secrets = createSecrets({ db, keys, log: { warn: () => undefined } });
    return { db, secrets, secretKeyId: keys[0]?.id, egressAllow, embeddings, actor: `operator ${loginName()}`, command, isJson };
}

/** Makes a change and its entry in the audit log in one transaction. `before` and `after` never contain a key. */
export async function audited<Result>(
    { db, actor, command }: Operator,
    change: (trx: Db) => Promise<{ target: string; before: JsonObject | null; after: JsonObject | null; result: Result }>,
    reason: string | null = null,
): Promise<Result> {
    return db.transaction(async (trx) => {
        const { target, before, after, result } = await change(trx);
        await recordChange(trx, { actor, command, target, reason, before, after });
        return result;
    });
}

/** The workspace of this id. @throws AdminFault NOT_FOUND */
export async function workspaceOrFault(db: Db, workspaceId: string): Promise<Workspace> {
    const workspace = await findWorkspace(db, workspaceId);
    if (workspace === undefined) throw new AdminFault('NOT_FOUND', `There is no workspace ${workspaceId}.`);
    return workspace;
}

/** The user's name, or its number: in containers the number may have no name. */
function loginName(): string {
    try {
        return userInfo().username;
    } catch {
        return String(process.getuid?.() ?? 'unknown');
    }
}
