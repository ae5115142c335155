import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import { Refusal, type RefusalCode, refusalEntry } from '../../shared/refusals.ts';
import { envelope, refusalHeaders, routeHeaders } from '../answers/refusal.ts';
import type { Arrival } from './check.ts';
import { requestIdOf } from './request-headers.ts';

/** Rejections are counted and logged once a second: counting each one would cost as much time as rejecting saves. */
const FLUSH_EVERY_MS = 1000;

/** Refuses a request before hapi creates one, with the same answer as hapi's. Use it where hapi's own answer would cost too much. */
export function reject(app: App, { request, response, contract }: Arrival, refusal: Refusal): void {
    const requestId = requestIdOf(request);
    const body = JSON.stringify(envelope(refusal, { app: { requestId } }, app.publicUrl()));
    const headers = [
        ['content-type', 'application/json; charset=utf-8'],
        ['content-length', String(Buffer.byteLength(body))],
        ['cache-control', 'no-store'],
        ...routeHeaders({ requestId, isOpen: contract?.auth !== 'required' }),
        ...refusalHeaders(refusal),
    ];
    response.writeHead(refusalEntry(refusal.code).status, headers.flat());
    response.end(request.method === 'HEAD' ? undefined : body);
}

/** Counts one rejection. @param waitMs the Retry-After of the answer */
type CountRejection = (route: Pick<AnyContract, 'method' | 'path'>, waitMs?: number) => void;

/** Counts rejected requests, and updates metrics and log once a second. A rejected fetch also counts as a fetch with the code. */
export function rejectionCounter(app: App, { code, message }: { code: RefusalCode; message: string }): CountRejection {
    const rejected = new Map<string, number>();
    let longest: number | undefined;
    const flush = () => {
        const { status } = refusalEntry(code);
        let all = 0;
        for (const [call, calls] of rejected) {
            const [method = '', route = ''] = call.split(' ');
            app.metrics.httpRequests.inc({ method, route, status }, calls);
            // The body with the site was not read.
            if (route === postFetch.path) app.metrics.fetches.inc({ site: app.metrics.siteLabel(undefined), outcome: code }, calls);
            all += calls;
        }
        const waited = longest === undefined ? {} : { wait_ms: Math.round(longest) };
        app.log.warn({ part: 'overload', code, refused: all, calls: Object.fromEntries(rejected), ...waited }, message);
        rejected.clear();
        longest = undefined;
    };
    return ({ method, path }, waitMs) => {
        if (rejected.size === 0) setTimeout(flush, FLUSH_EVERY_MS).unref();
        const call = `${method} ${path}`;
        rejected.set(call, (rejected.get(call) ?? 0) + 1);
        if (waitMs !== undefined) longest = Math.max(longest ?? 0, waitMs);
    };
}

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
