import * as contracts from '../../shared/contracts/connections.ts';
import { authorizeConnection, deleteOAuthClient, putOAuthClient } from '../../shared/contracts/oauth.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { addConnection } from './add-connection.ts';
import { authorize } from './authorize.ts';
import { changeConnection } from './change-connection.ts';
import { deleteConnection, listConnections, readConnection } from './connections.ts';
import { deleteClient, putClient } from './oauth-clients.ts';
import { testConnection } from './test-connection.ts';

export const connectionRoutes = [
    serve(contracts.postConnection, addConnection),
    serve(contracts.getConnections, listConnections),
    serve(contracts.getConnection, readConnection),
    serve(contracts.patchConnection, changeConnection),
    serve(contracts.testConnection, testConnection),
    serve(authorizeConnection, inTurn(authorize)),
    serve(putOAuthClient, inTurn(putClient)),
    serve(deleteOAuthClient, inTurn(deleteClient)),
    serve(contracts.deleteConnection, inTurn(deleteConnection)),
];
