import * as contracts from '../../shared/contracts/connections.ts';
import { authorizeConnection, deleteOAuthClient, putOAuthClient } from '../../shared/contracts/oauth.ts';
import { audited } from '../admission/count-in-window.ts';
import { inTurn } from '../admission/writes.ts';
import { serve } from '../serve.ts';
import { addConnection } from './add-connection.ts';
import { authorize } from './authorize.ts';
import { changeOne } from './change-connection.ts';
import { deleteOne, listMine, readOne } from './connections.ts';
import { deleteClient, putClient } from './oauth-clients.ts';
import { testOne } from './test-connection.ts';

export const connectionRoutes = [
    serve(contracts.postConnection, audited(addConnection)),
    serve(contracts.getConnections, listMine),
    serve(contracts.getConnection, readOne),
    serve(contracts.patchConnection, audited(changeOne)),
    serve(contracts.testConnection, testOne),
    serve(authorizeConnection, audited(inTurn(authorize))),
    serve(putOAuthClient, audited(inTurn(putClient))),
    serve(deleteOAuthClient, audited(inTurn(deleteClient))),
    serve(contracts.deleteConnection, audited(inTurn(deleteOne))),
];
