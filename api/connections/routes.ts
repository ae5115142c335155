import {
    deleteConnection,
    getConnection,
    getConnections,
    patchConnection,
    postConnection,
    testConnection,
} from '../../shared/contracts/connections.ts';
import { serve } from '../serve.ts';
import { addConnection } from './add-connection.ts';
import { changeOne } from './change-connection.ts';
import { deleteOne, listMine, readOne } from './connections.ts';
import { testOne } from './test-connection.ts';

export const connectionRoutes = [
    serve(postConnection, addConnection),
    serve(getConnections, listMine),
    serve(getConnection, readOne),
    serve(patchConnection, changeOne),
    serve(testConnection, testOne),
    serve(deleteConnection, deleteOne),
];
