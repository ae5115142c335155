import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../../shared/app.ts';
import { type Refusal, refusalEntry } from '../../shared/refusals.ts';
import { envelope } from './refusals.ts';
import { requestIdOf } from './request-id.ts';

/** Refuses a request that never becomes one of hapi's, in the same envelope: for moments in which that would cost too much. */
export function answerRaw(app: App, request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    const requestId = requestIdOf(request);
    const body = JSON.stringify(envelope(refusal, { app: { requestId } }, app.publicUrl()));
    response.writeHead(refusalEntry(refusal.code).status, [
        ...['content-type', 'application/json; charset=utf-8'],
        ...['content-length', String(Buffer.byteLength(body))],
        ...['cache-control', 'no-store'],
        ...['x-request-id', requestId],
        ...['x-content-type-options', 'nosniff'],
        ...['retry-after', String(refusal.extras.retryAfter ?? 1)],
    ]);
    response.end(request.method === 'HEAD' ? undefined : body);
}
