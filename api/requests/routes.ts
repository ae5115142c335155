import { getSchemaRequest, postSchemaRequest, type RequestAnswer } from '../../shared/contracts/requests.ts';
import { isId } from '../../shared/domain/text/ids.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import type { OpenCall } from '../call.ts';
import { serve } from '../serve.ts';
import { createRequest } from './create-request.ts';

export const requestRoutes = [
    serve(postSchemaRequest, createRequest),
    serve(getSchemaRequest, async (call) => ({ answer: await readRequest(call) })),
];

/** GET /v1/schema-requests/{request_id}: anyone who has the id may read it. It never shows who sent the request. */
async function readRequest({ app, params }: OpenCall<{ request_id: string }, unknown, unknown>): Promise<RequestAnswer> {
    const id = params.request_id;
    const request = isId('srq', id) ? await schemaRequests.find(app.browse, id) : undefined;
    if (request === undefined) throw new Refusal('REQUEST_NOT_FOUND');
    return {
        request_id: request.id,
        ...presentFields(request, 'domain task read_or_write auth_shape output_shape failure_mode intent_category frequency'),
        ...presentFields(request, 'status demand created_at updated_at fulfilled_by'),
        history: request.history.map(({ status, at }) => ({ status, at: at.toISOString() })),
    };
}
