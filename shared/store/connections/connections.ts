import { isConnectionId } from '../../domain/connections/connection-id.ts';
import type { AuthTerms } from '../../domain/package/auth.ts';
import type { PackageAuth } from '../../domain/types.ts';
import { type Columns, columns, countRows, cutPage, type Db } from '../../platform/db.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';

/** A connection as people see it; never its value. */
export interface Connection {
    connectionId: string;
    workspaceId: string;
    /** Null where a shared one outlived its owner's membership. */
    ownerId: string | null;
    shared: boolean;
    site: string;
    authId: string;
    name: string;
    entry: PackageAuth;
    hosts: string[];
    hint: string;
    createdAt: Date;
    lastUsedAt: Date | null;
}

export const CONNECTION: Columns<Connection> = {
    connectionId: 'id',
    ...columns('', 'workspace_id', 'owner_id', 'shared', 'site', 'auth_id', 'name', 'entry', 'hosts', 'hint'),
    ...columns('', 'created_at', 'last_used_at'),
};

/** A workspace has so many at most. */
export const MOST_CONNECTIONS = 500;

/** Who looks: people see their own connections, and the shared ones of the workspace. */
export interface Viewer {
    workspaceId: string;
    userId: string;
}

/** Whether a member may use a connection of the workspace. */
export function isFor({ shared, ownerId }: Pick<Connection, 'shared' | 'ownerId'>, userId: string): boolean {
    return shared || ownerId === userId;
}

function visible(db: Db, { workspaceId, userId }: Viewer) {
    return db('connections')
        .where({ workspace_id: workspaceId })
        .where((is) => is.where({ shared: true }).orWhere({ owner_id: userId }));
}

/** A connection that somebody may see; undefined where there is none. */
export async function findConnection(db: Db, viewer: Viewer, connectionId: string): Promise<Connection | undefined> {
    if (!isConnectionId(connectionId)) return undefined;
    return visible(db, viewer).where({ id: connectionId }).first(CONNECTION);
}

/** Where a page begins: behind this connection. */
export interface ConnectionPlace {
    createdAt: string;
    connectionId: string;
}

/** A page of the connections that somebody may see, the newest first, and how many there are in all. */
export async function listConnections(
    db: Db,
    viewer: Viewer,
    { site, limit, after }: { site: string | undefined; limit: number; after: ConnectionPlace | undefined },
): Promise<{ connections: Connection[]; next: ConnectionPlace | undefined; total: number }> {
    const wanted = () => visible(db, viewer).where(site === undefined ? {} : { site });
    const rows: (Connection & { place: string })[] = await wanted()
        .whereRaw('(created_at, id) < (?::timestamptz, ?)', [after?.createdAt ?? 'infinity', after?.connectionId ?? ''])
        .orderBy([
            { column: 'created_at', order: 'desc' },
            { column: 'id', order: 'desc' },
        ])
        .limit(limit + 1)
        .select({ ...CONNECTION, place: db.raw('created_at::text') });
    const { shown, last } = cutPage(rows, limit);
    return {
        connections: shown,
        next: last && { createdAt: last.place, connectionId: last.connectionId },
        total: await countRows(wanted()),
    };
}

export interface NewConnection {
    connectionId: string;
    viewer: Viewer;
    shared: boolean;
    site: string;
    name: string;
    terms: AuthTerms;
    sealed: Buffer;
    hint: string;
}

/** Stores a connection; undefined where the workspace has as many as it may. */
export async function addConnection(db: Db, added: NewConnection, by: By): Promise<Connection | undefined> {
    const { connectionId, viewer, shared, site, name, terms, sealed, hint } = added;
    const { workspaceId, userId } = viewer;
    return db.transaction(async (trx): Promise<Connection | undefined> => {
        await trx.raw("select pg_advisory_xact_lock(hashtextextended('connections ' || ?, 0))", [workspaceId]);
        if ((await countRows(trx('connections').where({ workspace_id: workspaceId }))) >= MOST_CONNECTIONS) return undefined;
        await trx('connections').insert({
            id: connectionId,
            workspace_id: workspaceId,
            owner_id: userId,
            shared,
            site,
            auth_id: terms.entry.id,
            name,
            entry: JSON.stringify(terms.entry),
            hosts: [...terms.hosts],
            sealed,
            hint,
        });
        await recordAct(trx, { ...by, workspaceId, action: 'connection.created', target: connectionId, details: { site, shared } });
        return trx('connections').where({ id: connectionId }).first(CONNECTION);
    });
}

/** Deletes a connection and its value. */
export async function deleteConnection(db: Db, { connectionId, workspaceId, site }: Connection, by: By): Promise<void> {
    await db.transaction(async (trx) => {
        await trx('connections').where({ id: connectionId }).delete();
        await recordAct(trx, { ...by, workspaceId, action: 'connection.deleted', target: connectionId, details: { site } });
    });
}

/** When somebody leaves a workspace, or everything: private connections go, shared ones stay without an owner. */
export async function dropConnectionsOf(trx: Db, { userId, workspaceId }: { userId: string; workspaceId?: string }): Promise<void> {
    const own = () => trx('connections').where({ owner_id: userId, ...(workspaceId !== undefined && { workspace_id: workspaceId }) });
    await own().where({ shared: false }).delete();
    await own().update({ owner_id: null });
}
