import type { ConnectionDeleted, ConnectionEntry, ConnectionParams, ConnectionQuery } from '../../shared/contracts/connections.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import type { RowPlace } from '../../shared/platform/row-page.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import * as store from '../../shared/store/connections/connections.ts';
import { readPage } from '../answers/paging.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';
import { findMine, mayChange } from './find-mine.ts';
import { presentConnection } from './present-connection.ts';

/** GET /v1/connections */
export async function listMine(call: Call<object, ConnectionQuery, undefined>): Promise<Reply<ConnectionEntry[]>> {
    const { app, query } = call;
    const { workspaceId, userId, scopes } = call.caller as Caller;
    const { sites } = scopes.listed;
    const site = query.site === undefined ? undefined : readSite(query.site, '/site').site;
    const page = await readPage(call, 'getConnections', [workspaceId, userId, site ?? null]);
    const place = { site, sites, limit: page.limit, after: page.from as RowPlace | undefined };
    const { connections, next, total } = await store.listConnections(app.browse, { workspaceId, userId }, place);
    return { answer: connections.map(presentConnection), pagination: await page.end(next, total) };
}

/** GET /v1/connections/{connection_id} */
export async function readOne(call: Call<ConnectionParams, object, undefined>): Promise<Reply<ConnectionEntry>> {
    return { answer: presentConnection(await findMine(call)) };
}

/** DELETE /v1/connections/{connection_id} */
export async function deleteOne(call: Call<ConnectionParams, object, undefined>): Promise<Reply<ConnectionDeleted>> {
    const connection = await findMine(call);
    mayChange(connection, call.caller as Caller);
    await store.deleteConnection(call.app.db, connection, byCall(call));
    call.app.vault.forget(connection.workspaceId, connection.site);
    return { answer: { connection_id: connection.connectionId, deleted: true } };
}
