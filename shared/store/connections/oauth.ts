import { createHash } from 'node:crypto';
import type { OAuthClient, OAuthClients } from '../../domain/connections/oauth-clients.ts';
import type { Grant } from '../../domain/connections/secret.ts';
import type { PackageAuth } from '../../domain/types.ts';
import { type Columns, columns, countRows, type Db, fromNow, lockName, now, toColumns } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { actorOfUser, type By, recordAct } from '../accounts/workspace-audit.ts';
import { openWithDataKey, type SealedPlace, sealSecret } from './sealing.ts';

/** The path to which sites redirect people after a consent. */
export const CALLBACK_PATH = '/connections/callback';

/** States are identified by their hash. */
export function hashOfState(state: string): Buffer {
    return createHash('sha256').update(state).digest();
}

/** Maximum number of OAuth clients of one workspace. */
export const MAX_CLIENTS = 500;

/** Maximum number of pending consents of one member. */
export const MAX_FLOWS = 20;

const PENDING = ['open', 'due', 'running'];

/** A pending consent. */
export interface Flow extends SealedPlace {
    userId: string;
    entry: PackageAuth;
    hosts: string[];
    scopes: string[];
    clientId: string;
    redirectUrl: string | null;
    sealed: Buffer;
    status: 'open' | 'due' | 'running' | 'done' | 'failed';
    problem: string | null;
    stateHash: Buffer;
}

const FLOW: Columns<Flow> = columns(
    '',
    'workspace_id connection_id site user_id entry hosts scopes client_id redirect_url sealed status problem state_hash',
) as Columns<Flow>;

type NewFlow = Omit<Flow, 'status' | 'problem'>;

/** Begins a consent, which is valid for ten minutes; undefined if the member has the maximum number of pending consents. */
export async function addFlow(db: Db, flow: NewFlow): Promise<Date | undefined> {
    return db.transaction(async (trx) => {
        const { workspaceId, userId } = flow;
        await lockName(trx, `consents ${userId}`);
        await trx('oauth_flows').where('expires_at', '<=', now(trx)).delete();
        const pending = trx('oauth_flows').where({ workspace_id: workspaceId, user_id: userId }).whereIn('status', PENDING);
        if ((await countRows(pending)) >= MAX_FLOWS) return undefined;
        const [row] = await trx('oauth_flows')
            .insert({ ...toColumns(flow), entry: JSON.stringify(flow.entry), expires_at: fromNow(trx, '10 minutes') })
            .returning<{ expires_at: Date }[]>('expires_at');
        return row?.expires_at;
    });
}

export async function findFlow(db: Db, stateHash: Buffer): Promise<Flow | undefined> {
    return db('oauth_flows').where({ state_hash: stateHash }).where('expires_at', '>', now(db)).first(FLOW);
}

/** Passes an open consent to the workers, once. @param sealed verifier and URL @returns whether it was open */
export async function submitFlow(db: Db, stateHash: Buffer, sealed: Buffer): Promise<boolean> {
    return (await db('oauth_flows').where({ state_hash: stateHash, status: 'open' }).update({ status: 'due', sealed })) === 1;
}

/** Ends a consent that was refused. @returns whether it was open */
export async function dropFlow(db: Db, stateHash: Buffer): Promise<boolean> {
    return (await db('oauth_flows').where({ state_hash: stateHash, status: 'open' }).delete()) === 1;
}

/** Raw: whether a consent waits. */
export const FLOW_IS_DUE = "select true from oauth_flows where status = 'due' order by created_at limit 1";

/**
 * Takes a consent whose code a worker has to exchange: of the workspace that has the fewest running, so that the slow site of one does not
 * hold up the others. A code works once, so there is no retry.
 */
export async function takeDueFlow(db: Db): Promise<Flow | undefined> {
    const running = db('oauth_flows as r')
        .where({ 'r.workspace_id': db.ref('f.workspace_id'), 'r.status': 'running' })
        .count();
    const due = db('oauth_flows as f')
        .where({ 'f.status': 'due' })
        .orderBy([{ column: running }, { column: 'f.created_at' }])
        .limit(1)
        .forUpdate()
        .skipLocked();
    const [flow] = await db('oauth_flows')
        .whereIn('state_hash', due.select('f.state_hash'))
        .update({ status: 'running' })
        .returning('state_hash');
    return flow && findFlow(db, flow.state_hash);
}

export async function failFlow(db: Db, { stateHash }: Flow, problem: string): Promise<void> {
    await db('oauth_flows').where({ state_hash: stateHash }).update({ status: 'failed', problem });
}

/** Stores the grant of a consent as a connection. It replaces an ended one. */
export async function finishFlow(db: Db, flow: Flow, { sealed, scopes, expiresAt, hint }: Renewed & { hint: string }): Promise<void> {
    const { workspaceId, userId, connectionId, site, entry, hosts, stateHash } = flow;
    await db.transaction(async (trx) => {
        const granted = { sealed, scopes, expires_at: expiresAt, hint, entry: JSON.stringify(entry), hosts, status: 'active', refusals: 0 };
        await trx('connections')
            .insert({
                id: connectionId,
                workspace_id: workspaceId,
                owner_id: userId,
                shared: false,
                site,
                auth_id: entry.id,
                name: site,
                ...granted,
            })
            .onConflict('id')
            .merge({ ...granted, revision: trx.raw('connections.revision + 1') });
        await trx('oauth_flows').where({ state_hash: stateHash }).update({ status: 'done' });
        const actor = actorOfUser(userId);
        await recordAct(trx, { actor, workspaceId, action: 'connection.created', target: connectionId, details: { site, shared: false } });
    });
}

/** An ended connection of the same kind. Connecting again renews it. */
export async function findEnded(
    db: Db,
    { workspaceId, userId, site, authId }: { workspaceId: string; userId: string; site: string; authId: string },
): Promise<string | undefined> {
    const mine = { workspace_id: workspaceId, owner_id: userId, site, auth_id: authId };
    const ended = await db('connections').where(mine).whereIn('status', ['expired', 'revoked', 'rejected']).first('id');
    return ended?.id;
}

export interface Renewed {
    sealed: Buffer;
    scopes: string[];
    /** Null: the grant is renewed automatically. */
    expiresAt: Date | null;
}

function clientPlace(workspaceId: string, site: string): SealedPlace {
    return { workspaceId, connectionId: 'oauth client', site };
}

/** The OAuth client for a site: the workspace's own, or the operator's. @param clientId undefined: either of them */
export async function findClient(
    { db, secrets, config }: { db: Db; secrets: Secrets; config: { oauthClients: OAuthClients } },
    { workspaceId, site }: Pick<SealedPlace, 'workspaceId' | 'site'>,
    clientId?: string,
): Promise<OAuthClient | undefined> {
    const own = await db('oauth_clients').where({ workspace_id: workspaceId, site }).first();
    if (own !== undefined && (clientId === undefined || own.client_id === clientId)) {
        const kept = own.sealed === null ? undefined : await openWithDataKey(db, secrets, clientPlace(workspaceId, site), own.sealed);
        const clientSecret = kept !== undefined && 'value' in kept ? kept.value : undefined;
        return { clientId: own.client_id, clientSecret, origins: own.origins ?? undefined };
    }
    const operators = config.oauthClients.get(site);
    return operators !== undefined && (clientId === undefined || operators.clientId === clientId) ? operators : undefined;
}

/** The OAuth client for a new consent, with its secret encrypted. @param origins where the secret may be sent, if not set yet */
export async function bindClient(
    { db, config }: { db: Db; config: { oauthClients: OAuthClients } },
    { workspaceId, site }: Pick<SealedPlace, 'workspaceId' | 'site'>,
    origins: readonly string[],
): Promise<OAuthClient | undefined> {
    const [own] = await db('oauth_clients')
        .where({ workspace_id: workspaceId, site })
        .update({ origins: db.raw('coalesce(origins, ?::text[])', [[...origins]]) })
        .returning(['client_id', 'origins']);
    return own === undefined ? config.oauthClients.get(site) : { clientId: own.client_id, origins: own.origins };
}

/** Stores an OAuth client and replaces an earlier one. @returns false if the workspace has the maximum number */
export async function putClient(
    { db, secrets }: { db: Db; secrets: Secrets },
    { workspaceId, site }: Pick<SealedPlace, 'workspaceId' | 'site'>,
    { clientId, clientSecret, origins }: OAuthClient,
    by: By,
): Promise<boolean> {
    const sealed =
        clientSecret === undefined ? null : await sealSecret(db, secrets, clientPlace(workspaceId, site), { value: clientSecret });
    return db.transaction(async (trx) => {
        await lockName(trx, `oauth clients ${workspaceId}`);
        const others = trx('oauth_clients').where({ workspace_id: workspaceId }).whereNot({ site });
        if ((await countRows(others)) >= MAX_CLIENTS) return false;
        const client = { client_id: clientId, sealed, origins: origins ?? null, updated_at: now(trx) };
        await trx('oauth_clients')
            .insert({ workspace_id: workspaceId, site, ...client })
            .onConflict(['workspace_id', 'site'])
            .merge(client);
        await recordAct(trx, { ...by, workspaceId, action: 'oauth_client.set', target: site, details: { client_id: clientId } });
        return true;
    });
}

/** @returns whether the client existed */
export async function deleteClient(db: Db, { workspaceId, site }: Pick<SealedPlace, 'workspaceId' | 'site'>, by: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        const isGone = (await trx('oauth_clients').where({ workspace_id: workspaceId, site }).delete()) === 1;
        if (isGone) await recordAct(trx, { ...by, workspaceId, action: 'oauth_client.deleted', target: site });
        return isGone;
    });
}

/** A grant that its site has to revoke. */
export interface Revocation extends SealedPlace {
    entry: PackageAuth;
    sealed: Buffer;
}

/** Raw: whether a revocation waits. */
export const REVOCATION_IS_DUE = 'select true from oauth_revocations limit 1';

/**
 * Takes a revocation of the workspace with the fewest waiting ones, so that many of one workspace do not delay the others. It is attempted
 * only once.
 */
export async function takeRevocation(db: Db): Promise<Revocation | undefined> {
    const waiting = db('oauth_revocations').groupBy('workspace_id').select('workspace_id').count({ of_workspace: '*' });
    const next = db('oauth_revocations as r')
        .join(waiting.as('w'), 'w.workspace_id', 'r.workspace_id')
        .orderBy(['w.of_workspace', 'r.created_at'])
        .limit(1)
        .forUpdate('r')
        .skipLocked();
    const [taken]: Revocation[] = await db('oauth_revocations')
        .whereIn('connection_id', next.select('r.connection_id'))
        .delete()
        .returning(['connection_id as connectionId', 'workspace_id as workspaceId', 'site', 'entry', 'sealed']);
    return taken;
}

/** Queues the revocation of grants that are about to be deleted. Call it before the deletion, in the same transaction. */
export async function queueRevocations(trx: Db, ids: readonly string[]): Promise<void> {
    await trx.raw(
        `insert into oauth_revocations (connection_id, workspace_id, site, entry, sealed)
         select id, workspace_id, site, entry, sealed from connections
         where id = any(?) and status in ('active', 'untested', 'rejected', 'expired') and entry -> 'oauth2' ->> 'revocation_url' is not null
         on conflict do nothing`,
        [[...ids]],
    );
}

export async function redirectUrls(db: Db, workspaceId: string): Promise<string[]> {
    return db('redirect_urls').where({ workspace_id: workspaceId }).orderBy('url').pluck('url');
}

/** Replaces the list. */
export async function setRedirectUrls(db: Db, workspaceId: string, urls: readonly string[]): Promise<void> {
    await db.transaction(async (trx) => {
        await trx('redirect_urls').where({ workspace_id: workspaceId }).delete();
        if (urls.length > 0) await trx('redirect_urls').insert(urls.map((url) => ({ workspace_id: workspaceId, url })));
    });
}

/** Whether a grant is valid for a call that begins now. @param soonMs how long it must remain valid */
export function isFresh({ accessToken, expiresAt }: Grant, nowMs: number, soonMs: number): boolean {
    return accessToken !== undefined && (expiresAt === undefined || expiresAt - soonMs > nowMs);
}
