import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../../shared/app.ts';
import { type Refusal, refusalEntry } from '../../shared/refusals.ts';
import { envelope, refusalHeaders, routeHeaders } from '../answers/refusal.ts';
import { requestIdOf } from './request-headers.ts';

/**
 * Refuses a request before hapi creates one, with the same answer as hapi's. Use it where hapi's own answer would cost too much.
 * @param isOpen whether pages of every origin may read it
 */
export function answerRaw(
    app: App,
    { request, response, isOpen }: { request: IncomingMessage; response: ServerResponse; isOpen: boolean },
    refusal: Refusal,
): void {
    const requestId = requestIdOf(request);
    const body = JSON.stringify(envelope(refusal, { app: { requestId } }, app.publicUrl()));
    const headers = [
        ['content-type', 'application/json; charset=utf-8'],
        ['content-length', String(Buffer.byteLength(body))],
        ['cache-control', 'no-store'],
        ...routeHeaders({ requestId, isOpen }),
        ...refusalHeaders(refusal),
    ];
    response.writeHead(refusalEntry(refusal.code).status, headers.flat());
    response.end(request.method === 'HEAD' ? undefined : body);
}
