import { getSchemaRequest, postSchemaRequest } from '../../shared/contracts/requests.ts';
import { serve } from '../serve.ts';
import { createRequest } from './create-request.ts';
import { readRequest } from './read-request.ts';

export const requestRoutes = [
    serve(postSchemaRequest, createRequest),
    serve(getSchemaRequest, async (call) => ({ answer: await readRequest(call) })),
];
