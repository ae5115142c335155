import * as contracts from '../../shared/contracts/connections.ts';
import { authorizeConnection, deleteOAuthClient, putOAuthClient } from '../../shared/contracts/oauth.ts';
import { audited } from '../admission/count-in-window.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { addConnection } from './add-connection.ts';
import { authorize } from './authorize.ts';
import { changeConnection } from './change-connection.ts';
import { deleteConnection, listConnections, readConnection } from './connections.ts';
import { deleteClient, putClient } from './oauth-clients.ts';
import { testConnection } from './test-connection.ts';

export const connectionRoutes = [
    serve(contracts.postConnection, audited(addConnection)),
    serve(contracts.getConnections, listConnections),
    serve(contracts.getConnection, readConnection),
    serve(contracts.patchConnection, audited(changeConnection)),
    serve(contracts.testConnection, testConnection),
    serve(authorizeConnection, audited(inTurn(authorize))),
    serve(putOAuthClient, audited(inTurn(putClient))),
    serve(deleteOAuthClient, audited(inTurn(deleteClient))),
    serve(contracts.deleteConnection, audited(inTurn(deleteConnection))),
];
