import type { ConnectionStatus } from '../../domain/connections/connection.ts';
import type { AuthTerms } from '../../domain/package/auth.ts';
import { isId } from '../../domain/text/ids.ts';
import type { PackageAuth } from '../../domain/types.ts';
import { type Columns, columns, countRows, type Db, definedConditions, lockName, now } from '../../platform/db.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { queueRevocations } from './oauth.ts';

/** A connection in the form that people see. It never contains the value. */
export interface Connection {
    connectionId: string;
    workspaceId: string;
    /** Null for a shared connection whose owner left the workspace. */
    ownerId: string | null;
    shared: boolean;
    site: string;
    authId: string;
    name: string;
    entry: PackageAuth;
    hosts: string[];
    hint: string;
    /** Whether its owner lends it to the verification runs of a package that the workspace maintains. */
    verifies: boolean;
    status: ConnectionStatus;
    /** Increases with each new value. */
    revision: number;
    scopes: string[];
    createdAt: Date;
    lastUsedAt: Date | null;
    /** Set for an OAuth grant that expires. */
    expiresAt: Date | null;
}

export const CONNECTION: Columns<Connection> = {
    connectionId: 'id',
    ...columns(
        '',
        'workspace_id owner_id shared site auth_id name entry hosts hint verifies status revision scopes created_at last_used_at',
        'expires_at',
    ),
};

const MAX_CONNECTIONS = 500;
export const TOO_MANY_CONNECTIONS = `This workspace has ${MAX_CONNECTIONS} connections, which is the limit: delete one.`;

/** The person who reads connections. People see their own connections and the shared ones of the workspace. */
interface Viewer {
    workspaceId: string;
    userId: string;
}

export function isFor({ shared, ownerId }: Pick<Connection, 'shared' | 'ownerId'>, userId: string): boolean {
    return shared || ownerId === userId;
}

function visible(db: Db, { workspaceId, userId }: Viewer) {
    return db('connections')
        .where({ workspace_id: workspaceId })
        .whereNot({ status: 'trial' })
        .where((is) => is.where({ shared: true }).orWhere({ owner_id: userId }));
}

/** A connection that the user may see; undefined if there is none. */
export async function findConnection(db: Db, viewer: Viewer, connectionId: string): Promise<Connection | undefined> {
    if (!isId('con', connectionId)) return undefined;
    return visible(db, viewer).where({ id: connectionId }).first(CONNECTION);
}

interface ConnectionPage extends RowPage {
    site: string | undefined;
    sites: readonly string[] | null;
}

/** Connections that the user may see, newest first, and their total. @param page.sites only of these; null: of all sites */
export function listConnections(db: Db, viewer: Viewer, { site, sites, ...page }: ConnectionPage): Promise<FoundPage<Connection>> {
    const wanted = visible(db, viewer).where(definedConditions({ site }));
    return readRowPage<Connection>(db, sites === null ? wanted : wanted.whereIn('site', sites), CONNECTION, page);
}

interface NewConnection {
    connectionId: string;
    viewer: Viewer;
    shared: boolean;
    site: string;
    name: string;
    terms: AuthTerms;
    sealed: Buffer;
    hint: string;
    /** `trial`: the value is being tested before anybody sees it. */
    status: ConnectionStatus | 'trial';
}

/** Whether the workspace may have this connection beside its others. No other one is added until the end of the transaction. */
export async function mayAddConnection(
    trx: Db,
    { connectionId, workspaceId }: Pick<Connection, 'connectionId' | 'workspaceId'>,
): Promise<boolean> {
    await lockName(trx, `connections ${workspaceId}`);
    return (await countRows(trx('connections').where({ workspace_id: workspaceId }).whereNot({ id: connectionId }))) < MAX_CONNECTIONS;
}

/** Stores a connection; undefined if the workspace has the maximum number. Nobody sees a trial. */
export async function addConnection(db: Db, added: NewConnection, by: By): Promise<Connection | undefined> {
    const { connectionId, viewer, shared, site, status } = added;
    const { workspaceId } = viewer;
    return db.transaction(async (trx): Promise<Connection | undefined> => {
        if (!(await mayAddConnection(trx, { connectionId, workspaceId }))) return undefined;
        const connection = await insertConnection(trx, added);
        if (status !== 'trial') await recordCreated(trx, { connectionId, workspaceId, site, shared }, by);
        return connection;
    });
}

/** Stores a new value for an existing connection, in order to test it. */
export async function addTrial(db: Db, value: Omit<NewConnection, 'status' | 'hint'>): Promise<Connection> {
    return insertConnection(db, { ...value, status: 'trial', hint: '' });
}

async function insertConnection(
    db: Db,
    { connectionId, viewer: { workspaceId, userId }, terms, ...rest }: NewConnection,
): Promise<Connection> {
    await db('connections').insert({
        id: connectionId,
        workspace_id: workspaceId,
        owner_id: userId,
        ...columnsOfTerms(terms),
        ...rest,
    });
    return db('connections').where({ id: connectionId }).first(CONNECTION);
}

/** Ends a successful trial and creates its connection. Undefined if the trial no longer exists. */
export async function keepTrial(db: Db, trial: Connection, by: By): Promise<Connection | undefined> {
    return db.transaction(async (trx): Promise<Connection | undefined> => {
        const kept = await trx('connections')
            .where({ id: trial.connectionId, status: 'trial' })
            .update({ status: 'active', created_at: now(trx) });
        if (kept === 0) return undefined;
        await recordCreated(trx, trial, by);
        return trx('connections').where({ id: trial.connectionId }).first(CONNECTION);
    });
}

export async function dropTrial(db: Db, connectionId: string): Promise<void> {
    await db('connections').where({ id: connectionId, status: 'trial' }).delete();
}

type Created = Pick<Connection, 'connectionId' | 'workspaceId' | 'site' | 'shared'>;

async function recordCreated(trx: Db, { connectionId, workspaceId, site, shared }: Created, by: By): Promise<void> {
    await recordAct(trx, { ...by, workspaceId, action: 'connection.created', target: connectionId, details: { site, shared } });
}

function columnsOfTerms({ entry, hosts }: AuthTerms) {
    return { auth_id: entry.id, entry: JSON.stringify(entry), hosts: [...hosts] };
}

/** Changes of a connection. Absent fields do not change. */
interface ConnectionChange {
    name?: string | undefined;
    shared?: boolean | undefined;
    verifies?: boolean | undefined;
    terms?: AuthTerms | undefined;
    /** A new value, which lifts a rejection. */
    value?: { sealed: Buffer; hint: string; status: ConnectionStatus } | undefined;
}

/** Changes a connection. @returns the changed connection; undefined if it no longer exists */
export async function changeConnection(
    db: Db,
    { connectionId, workspaceId, site, ownerId }: Connection,
    { name, shared, verifies, terms, value }: ConnectionChange,
    by: By & { userId: string },
): Promise<Connection | undefined> {
    const { userId, ...actor } = by;
    return db.transaction(async (trx): Promise<Connection | undefined> => {
        const rows = await trx('connections')
            .where({ id: connectionId })
            .update({
                ...(name !== undefined && { name }),
                ...(verifies !== undefined && { verifies }),
                // If a shared connection has no owner, the user who unshares it becomes the owner.
                ...(shared !== undefined && { shared, ...(!shared && ownerId === null && { owner_id: userId }) }),
                ...(terms !== undefined && columnsOfTerms(terms)),
                ...(value !== undefined && { ...value, refusals: 0, refused_at: null }),
                revision: trx.raw('revision + 1'),
            });
        if (rows === 0) return undefined;
        const changed = { name, shared, verify_with: verifies, terms, secret: value };
        const fields = Object.keys(changed).filter((field) => changed[field as keyof typeof changed] !== undefined);
        await recordAct(trx, { ...actor, workspaceId, action: 'connection.changed', target: connectionId, details: { site, fields } });
        return trx('connections').where({ id: connectionId }).first(CONNECTION);
    });
}

export async function deleteConnection(db: Db, { connectionId, workspaceId, site }: Connection, by: By): Promise<void> {
    await db.transaction(async (trx) => {
        await queueRevocations(trx, [connectionId]);
        await trx('connections').where({ id: connectionId }).delete();
        await recordAct(trx, { ...by, workspaceId, action: 'connection.deleted', target: connectionId, details: { site } });
    });
}

/** Handles a user who leaves a workspace or is deleted: deletes private connections, and removes the owner of shared ones. */
export async function dropConnectionsOf(trx: Db, { userId, workspaceId }: { userId: string; workspaceId?: string }): Promise<void> {
    const own = () => trx('connections').where({ owner_id: userId, ...(workspaceId !== undefined && { workspace_id: workspaceId }) });
    await queueRevocations(trx, await own().where({ shared: false }).pluck('id'));
    await own().where({ shared: false }).delete();
    await own().update({ owner_id: null, verifies: false });
}

/** Deletes the connections and OAuth clients of workspaces without members, which nobody could delete any more. */
export async function dropConnectionsOfEmptied(trx: Db, workspaceIds: readonly string[]): Promise<void> {
    const all = () => trx('connections').whereIn('workspace_id', workspaceIds);
    await queueRevocations(trx, await all().pluck('id'));
    await all().delete();
    await trx('oauth_clients').whereIn('workspace_id', workspaceIds).delete();
}
