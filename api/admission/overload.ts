import type { ReqRef, ReqRefDefaults, Request, Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import { isStuck } from '../../shared/coordination/limits/fleet.ts';
import { createWaitEstimator, LASTING_WAIT_MS, type WaitEstimator } from '../../shared/domain/fetch/expected-wait.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Check } from './check.ts';
import { perApp } from './per-app.ts';
import { reject, rejectionCounter } from './rejections.ts';

declare module '@hapi/hapi' {
    interface Request<Refs extends ReqRef = ReqRefDefaults> {
        readonly isInjected: boolean;
    }
}

/** A process always accepts this many fetches. Below this number a slow fetch has another cause, and rejecting others would not help. */
const ALWAYS_INSIDE = 64;
/**
 * The most fetches of a process that have not reached the queue. While no fetch ends, no rate can be measured, so a fixed limit is needed.
 */
const MAX_BEFORE_QUEUE = 2000;
/** Below this number of fetches no wait is estimated: one slow site among them would look like stalled workers. */
const MIN_INSIDE = 16;

/** Workers report their slots once a second. */
const REPORTS_MS = 1000;

const estimatorOf = perApp((app) => createWaitEstimator({ hasFreeSlots: watchFreeSlots(app) }));

/**
 * Rejects fetches that would wait too long for a worker or in this process. They get 503 OVERLOADED with the time until the queue is short
 * again (decision 13). Their body is not read, they are not counted, and no credits are held. Fetches of our own pages and tools are
 * rejected within hapi.
 */
export function overload(server: Server, app: App): Check {
    const estimator = estimatorOf(app);
    /** Unanswered fetches whose body has arrived. */
    const inside = new WeakMap<Request, { number: number; enteredAt: number }>();
    const countRejection = rejectionCounter(app, {
        code: 'OVERLOADED',
        message: 'fetches were rejected: the workers or this process are overloaded',
    });
    const refusalOf = createRefusalCache();

    server.ext(
        'onPreHandler',
        (request, h) => {
            if (!isFetch(request)) return h.continue;
            const waitMs = request.isInjected ? tooLongMs(app, estimator) : undefined;
            if (waitMs !== undefined) throw refusalOf(waitMs);
            const enteredAt = performance.now();
            inside.set(request, { number: estimator.enter(enteredAt), enteredAt });
            return h.continue;
        },
        { after: 'input' },
    );
    const leave = (request: Request) => {
        const fetch = inside.get(request);
        if (fetch === undefined) return;
        inside.delete(request);
        estimator.leave(fetch, performance.now(), request.app.notes.ranMs);
    };
    server.ext('onPreResponse', (request, h) => {
        leave(request);
        return h.continue;
    });
    // If the caller hung up, `onPreResponse` does not run.
    server.events.on('response', leave);

    return (arrival, pass) => {
        const waitMs = arrival.contract?.name === postFetch.name ? tooLongMs(app, estimator) : undefined;
        if (waitMs === undefined) return pass();
        countRejection(postFetch, waitMs);
        reject(app, arrival, refusalOf(waitMs));
    };
}

/** Rejects a fetch that would time out in the queue. @throws Refusal OVERLOADED, with the time after which the queue is short again */
export function refuseTooLate(app: App, deadlineAt: number): void {
    const estimator = estimatorOf(app);
    if (estimator.inside() < MIN_INSIDE) return;
    const waitMs = estimator.waitMs(performance.now());
    if (Date.now() + waitMs >= deadlineAt) throw overloaded(waitMs);
}

/** The expected wait of a new fetch if it is too long; otherwise undefined. */
function tooLongMs({ queue }: App, estimator: WaitEstimator): number | undefined {
    const now = performance.now();
    const inside = estimator.inside();
    if (inside < ALWAYS_INSIDE) return undefined;
    if (inside - queue.waiting() >= MAX_BEFORE_QUEUE) return Math.max(LASTING_WAIT_MS, estimator.waitMs(now));
    return estimator.isTooLong(now) ? estimator.waitMs(now) : undefined;
}

/** Whether healthy workers had free slots in their last reports. Read at most once a second; true before the first read. */
function watchFreeSlots({ fleet }: App): () => boolean {
    let hasFree = true;
    let readAt = Number.NEGATIVE_INFINITY;
    const read = async () => {
        hasFree = (await fleet.live()).some((worker) => worker.busy < worker.slots && !isStuck(worker));
    };
    return () => {
        const now = performance.now();
        if (now - readAt >= REPORTS_MS) {
            readAt = now;
            // If the read fails, the last known value is used.
            read().catch(() => undefined);
        }
        return hasFree;
    };
}

function isFetch({ route }: Request): boolean {
    return route.settings.app?.contract?.name === postFetch.name;
}

function overloaded(waitMs: number): Refusal {
    return new Refusal('OVERLOADED', undefined, { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}

/** One refusal for each Retry-After: an error keeps its stack, and ten thousand stacks a second take 3 % of the process. */
function createRefusalCache(): (waitMs: number) => Refusal {
    const known = new Map<number, Refusal>();
    return (waitMs) => getOrMake(known, Math.ceil(waitMs / 1000), () => overloaded(waitMs));
}
