import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { App } from '../../shared/app.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { STATUS_CODES } from '../../shared/platform/node-http.ts';
import { Refusal, refusalEntry } from '../../shared/refusals.ts';
import { envelope } from '../answers/refusal.ts';
import { LATE } from '../bodies/read-body.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { requestIdOf } from './request-headers.ts';

/** The limit of the request line and all headers together. */
export const MAX_HEADER_BYTES = 16 * 1024;
export const MAX_HEADERS = 200;

const OVERFLOW = `The request line and the headers take at most ${MAX_HEADER_BYTES / 1024} KiB together, and there are at most ${MAX_HEADERS} headers.`;

/** Answers requests that never reach hapi, in the same envelope: requests that Node's parser rejects, and CONNECT. */
export const rawRefusals: AppPlugin = {
    name: 'raw-refusals',
    register({ listener }, { app }) {
        // Removes hapi's handler, which answers without our envelope.
        listener.removeAllListeners('clientError');
        listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
            // No second answer may follow one that has already begun.
            const { _httpMessage: running } = socket as { _httpMessage?: { headersSent: boolean; req: IncomingMessage } };
            if (socket.destroyed || !socket.writable || running?.headersSent) return void socket.destroy();
            const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
            // The code that reads the body sends this refusal, with the request's id and the route's headers, and counts it.
            if (isLate && running?.req.emit(LATE)) return;
            const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
            const refusal = isLate
                ? new Refusal('REQUEST_TIMEOUT')
                : new Refusal('VALIDATION_ERROR', isTooLarge ? OVERFLOW : 'The request is not well-formed HTTP/1.1.');
            answer(app, refusal, socket, running?.req);
        });
        listener.on('connect', (request: IncomingMessage, socket: Duplex) => {
            socket.on('error', () => {});
            answer(app, new Refusal('VALIDATION_ERROR', 'CONNECT is not supported: this server is not a proxy.'), socket, request);
        });
        // Ignores unknown Expect headers, because Node would answer 417 without our envelope.
        listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
    },
};

/** The time in which a client has to read a refusal and close the connection. */
const CLOSE_MS = 1000;

/** @param request undefined if its headers did not arrive */
function answer(app: App, refusal: Refusal, socket: Duplex, request: IncomingMessage | undefined): void {
    const requestId = request === undefined ? newId('req') : requestIdOf(request);
    const body = JSON.stringify(envelope(refusal, { app: { requestId } }, app.publicUrl()));
    const { status } = refusalEntry(refusal.code);
    const head = [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${requestId}`,
        'cache-control: no-store',
        'x-content-type-options: nosniff',
        'connection: close',
    ];
    app.metrics.httpRequests.inc({ method: 'other', route: 'other', status });
    app.log.info({ request_id: requestId, method: 'other', route: 'other', status, code: refusal.code }, 'answered');
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    // What follows is not read as requests. Unread bytes, or a client that does not close, would keep the connection open for ever.
    socket.resume();
    setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}
