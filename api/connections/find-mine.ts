import type { ConnectionParams } from '../../shared/contracts/connections.ts';
import { isManager } from '../../shared/domain/accounts/roles.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { type Connection, findConnection } from '../../shared/store/connections/connections.ts';
import { checkSite } from '../auth/key-scopes.ts';
import type { Call } from '../call.ts';

/** Finds the connection of the path. @throws Refusal CONNECTION_NOT_FOUND, FORBIDDEN */
export async function findMine<Query, Body>({ app, params, caller }: Call<ConnectionParams, Query, Body>): Promise<Connection> {
    const { workspaceId, userId, scopes } = caller as Caller;
    const connection = await findConnection(app.db, { workspaceId, userId }, params.connection_id);
    if (connection === undefined) throw new Refusal('CONNECTION_NOT_FOUND', 'You have no connection with this id.');
    checkSite(scopes.listed.sites, connection.site);
    return connection;
}

/** Owners may change private connections, owners and admins of the workspace shared ones. @throws Refusal FORBIDDEN */
export function mayChange({ shared }: Connection, { role, workspaceName }: Caller): void {
    if (!shared || isManager(role)) return;
    throw new Refusal('FORBIDDEN', `Shared connections are changed by owners and admins of ${workspaceName}; your role there is ${role}.`);
}
