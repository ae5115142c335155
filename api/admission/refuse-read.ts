import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Arrival } from './check.ts';
import { reject, rejectionCounter } from './rejections.ts';

/**
 * Creates a function that refuses reads with 503 SERVICE_UNAVAILABLE. A browser gets a page instead of JSON, from hapi, before anything is
 * read.
 * @param words what callers read @param message for the log
 */
export function createReadRefusal(
    server: Server,
    app: App,
    { words, message }: { words: string; message: string },
): (arrival: Arrival, pass: () => void) => void {
    const refusal = new Refusal('SERVICE_UNAVAILABLE', words, { retryAfter: 1 });
    const countRejection = rejectionCounter(app, { code: 'SERVICE_UNAVAILABLE', message });
    const refusedInHapi = new WeakSet<IncomingMessage>();
    server.ext('onPreAuth', ({ raw: { req } }, h) => {
        if (refusedInHapi.has(req)) throw refusal;
        return h.continue;
    });
    return (arrival, pass) => {
        const { request, contract, path = 'other' } = arrival;
        if (contract === undefined && request.headers.accept?.includes('text/html')) {
            refusedInHapi.add(request);
            return pass();
        }
        countRejection(contract ?? { method: 'GET', path: path as `/${string}` });
        reject(app, arrival, refusal);
    };
}
