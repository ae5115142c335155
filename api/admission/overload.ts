import type { IncomingMessage } from 'node:http';
import type { Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import { ALWAYS_IN_HAND, createBacklog } from '../../shared/domain/fetch/backlog.ts';
import { isTooLong, LEAST_IN_LINE } from '../../shared/domain/fetch/queue-delay.ts';
import type { Refusal } from '../../shared/refusals.ts';
import { toRefusal } from '../answers/refusal.ts';
import { answerRaw } from './answer-raw.ts';
import type { Check } from './check.ts';
import { isFetch } from './is-fetch.ts';
import { overloaded, retryAfter } from './overloaded.ts';
import { rejectionCounter } from './rejection-counter.ts';

const { path: PATH } = postFetch;
/** A request that is read this late in a turn of the event loop is admitted for half of the usual wait: it has waited already. */
const TURN_MS = 10;
const LATE_SHARE = 0.5;

/**
 * Rejects fetches that would wait too long, for a worker or in this process, before anything is read, counted or held: 503 OVERLOADED
 * with the time after which the queue is short again (decision 13). Fetches that our own pages and tools make are rejected within hapi.
 */
export function overload(server: Server, app: App): Check {
    /** Fetches whose body is here and that are not answered yet. */
    let inside = 0;
    const judged = new WeakSet<IncomingMessage>();
    const counted = new WeakSet<IncomingMessage>();
    const over = new WeakSet<IncomingMessage>();
    const countRejection = rejectionCounter(app, {
        code: 'OVERLOADED',
        message: 'fetches were refused: workers, or this process, do not keep up',
        count: (rejected) => app.metrics.fetches.inc({ site: 'other', outcome: 'OVERLOADED' }, rejected),
    });
    const turnMs = createTurnTimer();
    const refusalOf = createRefusalCache();
    const backlog = createBacklog();

    server.ext(
        'onRequest',
        ({ method, path, raw: { req } }, h) => {
            const waitMs = method === 'post' && path === PATH && !judged.has(req) ? judge(req) : undefined;
            if (waitMs !== undefined) throw overloaded(waitMs);
            return h.continue;
        },
        { after: 'observe' },
    );
    server.ext('onPostAuth', ({ method, path, raw: { req } }, h) => {
        if (method === 'post' && path === PATH) {
            const enter = () => {
                if (over.has(req) || counted.has(req)) return;
                counted.add(req);
                inside++;
            };
            // The handler reads the body.
            if (req.readableEnded) enter();
            else req.once('end', enter);
        }
        return h.continue;
    });
    const leave = ({ raw: { req } }: Request, isDone: boolean) => {
        over.add(req);
        if (!counted.delete(req)) return;
        inside--;
        if (isDone) backlog.left();
    };
    server.ext(
        'onPreResponse',
        (request, h) => {
            const { response } = request;
            leave(request, !('isBoom' in response) || toRefusal(response).code !== 'DEADLINE_EXCEEDED');
            return h.continue;
        },
        { before: ['refusals', 'refusal-pages'] },
    );
    // A request whose caller hung up has no onPreResponse.
    server.events.on('response', (request) => leave(request, false));

    /** The wait of a fetch that is rejected for it. */
    function judge(request: IncomingMessage): number | undefined {
        const waitMs = tooLongMs();
        if (waitMs === undefined) judged.add(request);
        else countRejection('POST', PATH, waitMs);
        return waitMs;
    }

    /** The wait of a fetch that comes now, where it is too long. */
    function tooLongMs(): number | undefined {
        const share = turnMs() > TURN_MS ? LATE_SHARE : 1;
        const withWorkers = app.queue.waiting();
        // Callers may hang up while the queue still waits for their outcome.
        const inHand = Math.max(0, inside - withWorkers);
        const waitHere = backlog.tooLongMs(performance.now(), { inHand, withWorkers }, share);
        if (inside < ALWAYS_IN_HAND) return undefined;
        if (withWorkers < LEAST_IN_LINE) return waitHere;
        const delay = app.queue.estimateDelay(inHand);
        return isTooLong(delay, share) ? delay.waitMs : waitHere;
    }

    return (request, response, pass) => {
        const waitMs = isFetch(request) ? judge(request) : undefined;
        if (waitMs === undefined) pass();
        else answerRaw(app, { request, response, isOpen: false }, refusalOf(waitMs));
    };
}

/** One refusal for each Retry-After: an error keeps its stack, and ten thousand stacks a second take 3 % of the process. */
function createRefusalCache(): (waitMs: number) => Refusal {
    const known = new Map<number, Refusal>();
    return (waitMs) => {
        const seconds = retryAfter(waitMs);
        const refusal = known.get(seconds) ?? overloaded(waitMs);
        known.set(seconds, refusal);
        return refusal;
    };
}

/** For how long requests have been read in this turn of the event loop. */
function createTurnTimer(): () => number {
    let began: number | undefined;
    return () => {
        const now = performance.now();
        if (began === undefined) {
            began = now;
            setImmediate(() => {
                began = undefined;
            });
        }
        return now - began;
    };
}
