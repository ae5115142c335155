import type { IncomingMessage } from 'node:http';
import type { Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import { ALWAYS_IN_HAND, openInHand } from '../../shared/domain/in-hand.ts';
import { isTooLong, LEAST_IN_LINE } from '../../shared/domain/waiting-line.ts';
import type { Refusal } from '../../shared/refusals.ts';
import { answerRaw } from './answer-raw.ts';
import { atListener } from './at-listener.ts';
import { isFetch } from './is-fetch.ts';
import { overloaded, retryAfter } from './overloaded.ts';
import { toRefusal } from './refusals.ts';
import { openTally } from './tell-refused.ts';

const { path: PATH } = postFetch;
/** Who comes so late in a turn of the event loop learns late whatever it is told: of what it might wait, half is borne. */
const TURN_MS = 10;
const LATE_SHARE = 0.5;

/**
 * Refuses fetches that would wait too long, for a worker or in this process, at once, before anything is read, counted or held: 503
 * OVERLOADED with the time after which the line is short again. Those that come by the network never become a request of hapi's, which
 * would cost several times as much; those that our own pages and tools make are refused as any other call. Browsing has bounds of its
 * own (yield-to-fetches.ts). Register it after the requests get their ids, and before anybody else listens.
 */
export function shedLoad(server: Server, app: App): void {
    /** Fetches that are wholly here and not answered yet: a body that comes slowly, or an answer that is read slowly, is no work. */
    let inside = 0;
    const judged = new WeakSet<IncomingMessage>();
    const counted = new WeakSet<IncomingMessage>();
    const over = new WeakSet<IncomingMessage>();
    const tell = openTally(app, {
        code: 'OVERLOADED',
        message: 'fetches were refused: workers, or this process, do not keep up',
        count: (refused) => app.metrics.fetches.inc({ site: 'other', outcome: 'OVERLOADED' }, refused),
    });
    const turn = watchTurns();
    const refusalOf = openRefusals();
    const hands = openInHand();

    atListener(server, (request, response, pass) => {
        const waitMs = isFetch(request) ? judge(request) : undefined;
        if (waitMs === undefined) pass();
        else answerRaw(app, { request, response, isOpen: false }, refusalOf(waitMs));
    });
    server.ext('onRequest', ({ method, path, raw: { req } }, h) => {
        const waitMs = method === 'post' && path === PATH && !judged.has(req) ? judge(req) : undefined;
        if (waitMs !== undefined) throw overloaded(waitMs);
        return h.continue;
    });
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
        if (isDone) hands.left();
    };
    server.ext('onPreResponse', (request, h) => {
        const { response } = request;
        leave(request, !('isBoom' in response) || toRefusal(response).code !== 'DEADLINE_EXCEEDED');
        return h.continue;
    });
    // Without an answer, too, where the caller went.
    server.events.on('response', (request) => leave(request, false));

    /** How long it would wait, where it is refused for that. */
    function judge(request: IncomingMessage): number | undefined {
        const waitMs = tooLongMs();
        if (waitMs === undefined) judged.add(request);
        else tell('POST', PATH, waitMs);
        return waitMs;
    }

    /** How long a newcomer would wait, where it is better told to come back. */
    function tooLongMs(): number | undefined {
        const share = turn() > TURN_MS ? LATE_SHARE : 1;
        // Whoever is gone may still be waited for.
        const withWorkers = app.queue.waiting();
        const inHand = Math.max(0, inside - withWorkers);
        const waitInHand = hands.tooLongMs(performance.now(), { inHand, withWorkers }, share);
        if (inside < ALWAYS_IN_HAND) return undefined;
        if (withWorkers < LEAST_IN_LINE) return waitInHand;
        const outlook = app.queue.outlook(inHand);
        return isTooLong(outlook, share) ? outlook.waitMs : waitInHand;
    }
}

/**
 * The refusal of those that never become requests of hapi's, which nobody changes: one for each Retry-After, since an error keeps its stack,
 * and ten thousand stacks a second would be a thirtieth of the process's time.
 */
function openRefusals(): (waitMs: number) => Refusal {
    const known = new Map<number, Refusal>();
    return (waitMs) => {
        const seconds = retryAfter(waitMs);
        const refusal = known.get(seconds) ?? overloaded(waitMs);
        known.set(seconds, refusal);
        return refusal;
    };
}

/** For how long calls have been coming in this turn of the event loop. */
function watchTurns(): () => number {
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
