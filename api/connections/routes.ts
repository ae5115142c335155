import { deleteConnection, getConnection, getConnections, postConnection } from '../../shared/contracts/connections.ts';
import { serve } from '../serve.ts';
import { addConnection } from './add-connection.ts';
import { deleteOne, listMine, readOne } from './connections.ts';

export const connectionRoutes = [
    serve(postConnection, addConnection),
    serve(getConnections, listMine),
    serve(getConnection, readOne),
    serve(deleteConnection, deleteOne),
];
