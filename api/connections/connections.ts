import type { ConnectionDeleted, ConnectionEntry, ConnectionParams, ConnectionQuery } from '../../shared/contracts/connections.ts';
import { isManager } from '../../shared/domain/accounts/roles.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import * as store from '../../shared/store/connections/connections.ts';
import { answerPage } from '../answers/paging.ts';
import { byCall } from '../auth/caller.ts';
import { checkSite } from '../auth/key-scopes.ts';
import type { Call, Reply } from '../call.ts';

/** GET /v1/connections */
export async function listConnections(call: Call<object, ConnectionQuery, undefined>): Promise<Reply<ConnectionEntry[]>> {
    const { app, query } = call;
    const { workspaceId, userId, scopes } = call.caller;
    const { sites } = scopes.listed;
    const site = query.site === undefined ? undefined : readSite(query.site, '/site').site;
    const list = (page: RowPage) => store.listConnections(app.browse, { workspaceId, userId }, { ...page, site, sites });
    const about = [workspaceId, userId, site ?? null];
    return answerPage(call, about, list, (rows) => rows.map(presentConnection));
}

/** GET /v1/connections/{connection_id} */
export async function readConnection(call: Call<ConnectionParams, object, undefined>): Promise<Reply<ConnectionEntry>> {
    return { answer: presentConnection(await mustFindConnection(call)) };
}

/** DELETE /v1/connections/{connection_id} */
export async function deleteConnection(call: Call<ConnectionParams, object, undefined>): Promise<Reply<ConnectionDeleted>> {
    const connection = await mustFindConnection(call);
    checkMayChange(connection, call.caller);
    await store.deleteConnection(call.app.db, connection, byCall(call));
    call.app.vault.forget(connection.workspaceId, connection.site);
    return { answer: { connection_id: connection.connectionId, deleted: true } };
}

/** The connection of the path. @throws Refusal CONNECTION_NOT_FOUND, FORBIDDEN */
export async function mustFindConnection<Query, Body>(call: Call<ConnectionParams, Query, Body>): Promise<store.Connection> {
    const { workspaceId, userId, scopes } = call.caller;
    const connection = await store.findConnection(call.app.db, { workspaceId, userId }, call.params.connection_id);
    if (connection === undefined) throw new Refusal('CONNECTION_NOT_FOUND', 'You have no connection with this id.');
    checkSite(scopes.listed.sites, connection.site);
    return connection;
}

/** Owners may change private connections, owners and admins of the workspace shared ones. @throws Refusal FORBIDDEN */
export function checkMayChange({ shared }: store.Connection, { role, workspaceName }: Caller): void {
    if (!shared || isManager(role)) return;
    throw new Refusal('FORBIDDEN', `Only owners and admins of ${workspaceName} can change shared connections. Your role there is ${role}.`);
}

export function presentConnection({ entry, ownerId, verifies, ...connection }: store.Connection): ConnectionEntry {
    const shown = { ...connection, type: entry.type, owner: ownerId, verifyWith: verifies };
    return presentFields(
        shown,
        'connection_id site auth_id type name shared owner hosts scopes status verify_with hint created_at last_used_at expires_at',
    );
}
