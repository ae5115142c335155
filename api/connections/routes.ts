import {
    deleteConnection,
    getConnection,
    getConnections,
    patchConnection,
    postConnection,
    testConnection,
} from '../../shared/contracts/connections.ts';
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
    serve(postConnection, audited(addConnection)),
    serve(getConnections, listMine),
    serve(getConnection, readOne),
    serve(patchConnection, audited(changeOne)),
    serve(testConnection, testOne),
    serve(authorizeConnection, audited(inTurn(authorize))),
    serve(putOAuthClient, audited(inTurn(putClient))),
    serve(deleteOAuthClient, audited(inTurn(deleteClient))),
    serve(deleteConnection, audited(inTurn(deleteOne))),
];
