import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { Refusal, refusalEntry } from '../../shared/refusals.ts';
import { answerRaw } from './answer-raw.ts';

const FETCH_PATH = '/v1/fetch';
/** So many calls a second that browse are always let in, however busy this process is. */
const ALWAYS_PER_SECOND = 200;
/** There are fetches to yield to for so long after the last one came. */
const FETCHES_MS = 1000;
/** Up to this share of its time the process may work before browsing beyond that rate has to wait. */
const BUSY = 0.6;
const LOOK_EVERY_MS = 50;
/** What is let in of the calls beyond the rate, after a look that found the process too busy, and after one that did not. */
const LESS = 0.7;
const MORE = 0.05;
const TOLD_EVERY_MS = 1000;

/**
 * Lets those who browse wait where they would slow down fetches: beyond a rate that every process bears, they are let in as long as its
 * event loop has time to spare, and otherwise refused before anything is read: 503 SERVICE_UNAVAILABLE with Retry-After. Who browses are
 * the readers of answers that anybody may keep (their contracts have `cacheSeconds`). Register it last, after all routes.
 */
export function yieldToFetches(server: Server, app: App): void {
    const browsed = browsedPaths(server);
    const room = openRoom();
    const tell = openTally(app);
    let lastFetch = Number.NEGATIVE_INFINITY;

    const { listener } = server;
    const dispatch = listener.listeners('request') as RequestListener[];
    listener.removeAllListeners('request');
    listener.on('request', (request: IncomingMessage, response: ServerResponse) => {
        const route = request.method === 'GET' || request.method === 'HEAD' ? browsedRoute(request) : undefined;
        if (route !== undefined && !room.enter(performance.now() - lastFetch < FETCHES_MS)) {
            tell(route);
            return answerRaw(app, request, response, new Refusal('SERVICE_UNAVAILABLE', WORDS, { retryAfter: 1 }));
        }
        if (request.method === 'POST' && request.url?.startsWith(FETCH_PATH)) lastFetch = performance.now();
        for (const serve of dispatch) serve(request, response as Parameters<RequestListener>[1]);
    });

    function browsedRoute({ url = '' }: IncomingMessage): string | undefined {
        const [path = ''] = url.split('?', 1);
        return browsed.find(({ form }) => form.test(path))?.path;
    }
}

/** The paths of routes whose answers anybody may keep; a name in braces is one segment. */
function browsedPaths(server: Server): { path: string; form: RegExp }[] {
    const contracts = server.table().flatMap(({ settings: { app } }) => app?.contract ?? []);
    const kept = contracts.filter(({ cacheSeconds }) => cacheSeconds !== undefined);
    return kept.map(({ path }) => ({ path, form: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));
}

const WORDS = 'Fetches come first, and they keep this process busy; read this again in a moment.';

/** Who browses takes from a bucket that fills at the rate that is always borne, and then of what the event loop has to spare. */
function openRoom(): { enter(isContested: boolean): boolean } {
    let tokens = ALWAYS_PER_SECOND;
    let filledAt = performance.now();
    let share = 1;
    let seen = performance.eventLoopUtilization();
    let seenAt = performance.now();

    return {
        enter(isContested) {
            const now = performance.now();
            tokens = Math.min(ALWAYS_PER_SECOND, tokens + ((now - filledAt) * ALWAYS_PER_SECOND) / 1000);
            filledAt = now;
            if (tokens >= 1) {
                tokens--;
                return true;
            }
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

/** Tells the metrics and the log how many were refused, once a second: one by one they would cost what they are to spare. */
function openTally(app: App): (route: string) => void {
    const refused = new Map<string, number>();
    const tell = () => {
        const { status } = refusalEntry('SERVICE_UNAVAILABLE');
        for (const [route, count] of refused) app.metrics.httpRequests.inc({ method: 'GET', route, status }, count);
        app.log.warn({ part: 'overload', refused: Object.fromEntries(refused) }, 'browsing was refused: fetches need the time');
        refused.clear();
    };
    return (route) => {
        if (refused.size === 0) setTimeout(tell, TOLD_EVERY_MS).unref();
        refused.set(route, (refused.get(route) ?? 0) + 1);
    };
}
