import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import { answerRaw } from './answer-raw.ts';
import { atListener } from './at-listener.ts';
import { openBucket } from './bucket.ts';
import { openContractPaths } from './contract-paths.ts';
import { isFetch } from './is-fetch.ts';
import { openTally } from './tell-refused.ts';

/** So many are served at once, at the most: more would only wait for each other, and a fetch that comes then for all of them. */
const MOST_AT_ONCE = 256;
/** There are fetches to yield to for so long after the last one came. */
const FETCHES_MS = 1000;
/** Up to this share of its time the process may work before browsing beyond that rate has to wait. */
const BUSY = 0.6;
const LOOK_EVERY_MS = 50;
/** What is let in of the calls beyond the rate, after a look that found the process too busy, and after one that did not. */
const LESS = 0.7;
const MORE = 0.05;

/**
 * Lets those who browse wait where they would slow down fetches: beyond a rate that every process bears, they are let in as long as its
 * event loop has time to spare, and never a crowd of them at once; otherwise they are refused before anything is read: 503
 * SERVICE_UNAVAILABLE with Retry-After. Who browses are the readers of answers that anybody may keep (their contracts have
 * `cacheSeconds`). Register it last, after all routes.
 */
export function yieldToFetches(server: Server, app: App): void {
    const browsed = openContractPaths(server, ({ cacheSeconds }) => cacheSeconds !== undefined);
    const room = openRoom(app.config.browsedPerSecond);
    const tell = openTally(app, { code: 'SERVICE_UNAVAILABLE', message: 'browsing was refused: fetches need the time' });
    let lastFetch = Number.NEGATIVE_INFINITY;
    /** Of those who browse: an answer that is ready, and read slowly, is no work any more. */
    let inside = 0;
    const counted = new WeakSet<IncomingMessage>();
    const leave = (request: IncomingMessage) => {
        if (counted.delete(request)) inside--;
    };
    server.ext('onPreResponse', ({ raw: { req } }, h) => {
        leave(req);
        return h.continue;
    });

    atListener(server, (request, response, pass) => {
        const contract = browsed(request.method, request.url);
        if (contract !== undefined) {
            if (inside >= MOST_AT_ONCE || !room.enter(performance.now() - lastFetch < FETCHES_MS)) {
                tell(contract.method, contract.path);
                const isOpen = contract.auth !== 'required';
                return answerRaw(app, { request, response, isOpen }, new Refusal('SERVICE_UNAVAILABLE', WORDS, { retryAfter: 1 }));
            }
            inside++;
            counted.add(request);
            response.once('close', () => leave(request));
        }
        if (isFetch(request)) lastFetch = performance.now();
        pass();
    });
}

const WORDS = 'This process is busy, and fetches come first; read this again in a moment.';

/** Who browses takes from a bucket that fills at the rate that is always borne, and then of what the event loop has to spare. */
function openRoom(alwaysPerSecond: number): { enter(isContested: boolean): boolean } {
    const bucket = openBucket(alwaysPerSecond);
    let share = 1;
    let seen = performance.eventLoopUtilization();
    let seenAt = performance.now();

    return {
        enter(isContested) {
            if (bucket.take()) return true;
            const now = performance.now();
            if (now - seenAt >= LOOK_EVERY_MS) look(now);
            return !isContested || Math.random() < share;
        },
    };

    function look(now: number): void {
        const utilization = performance.eventLoopUtilization();
        const busy = performance.eventLoopUtilization(utilization, seen).utilization;
        seen = utilization;
        seenAt = now;
        share = busy > BUSY ? share * LESS : Math.min(1, share + MORE);
    }
}
