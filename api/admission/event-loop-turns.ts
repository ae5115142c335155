import type { App } from '../../shared/app.ts';
import { postFetch } from '../../shared/contracts/fetch.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { Check } from './check.ts';
import { clientAddress, limitIdentity } from './client-address.ts';
import { perApp } from './per-app.ts';

/** How long new requests may start in one turn of the event loop. */
const TURN_MS = 5;

/**
 * Spreads the start of requests over turns of the event loop. A busy process reads the requests of all connections in one turn: 120
 * requests for a page of 2 ms made a turn of 240 ms, in which no fetch progressed. After 5 ms of a turn, further requests start in later
 * turns, one per turn, client by client, and use at most half of the time while there are fetches. Fetches never wait here, since their
 * work of one turn is batched.
 */
export function eventLoopTurns(app: App): Check {
    const { trustProxy } = app.config;
    const turns = createClientTurns(fetchShareOf(app).pauseAfter);
    let began: number | undefined;

    /** Milliseconds since the first request of this turn started. */
    function spentMs(): number {
        const now = performance.now();
        if (began === undefined) {
            began = now;
            setImmediate(() => {
                began = undefined;
            });
        }
        return now - began;
    }

    return ({ request, contract }, pass) => {
        if (contract?.name === postFetch.name) return pass();
        if (!turns.isContested() && spentMs() < TURN_MS) return pass();
        void turns.wait(limitIdentity(clientAddress(request, trustProxy))).then(() => {
            if (!request.socket.destroyed) pass();
        });
    };
}

/**
 * Resumes one caller per turn of the event loop; clients take turns. If 100 connections of one client each need 5 ms of work, each turn
 * takes 5 ms instead of one turn of 500 ms, which would delay all fetches.
 * @param pauseAfter returns how many milliseconds the next caller waits after a turn of `turnMs`
 */
export function createClientTurns(pauseAfter: (turnMs: number) => number) {
    /** The waiting callers of each client. The next client comes first. */
    const waiting = new Map<string, (() => void)[]>();
    let isRunning = false;

    function resumeNext(): void {
        const [first] = waiting;
        if (first === undefined) {
            isRunning = false;
            return;
        }
        const [client, callers] = first;
        // A client with more waiting callers moves to the end.
        waiting.delete(client);
        const began = performance.now();
        callers.shift()?.();
        if (callers.length > 0) waiting.set(client, callers);
        setImmediate(() => {
            const pause = pauseAfter(performance.now() - began);
            if (pause > 0) setTimeout(resumeNext, pause);
            else resumeNext();
        });
    }

    return {
        /** Resolves in a later turn of the event loop. */
        wait(client: string): Promise<void> {
            return new Promise((resolve) => {
                getOrMake(waiting, client, () => []).push(resolve);
                if (isRunning) return;
                isRunning = true;
                setImmediate(resumeNext);
            });
        },
        /** Whether any caller waits. */
        isContested: () => waiting.size > 0,
    };
}

/** How long a fetch counts as recent. */
const RECENT_MS = 1000;
/** The longest pause. A process that was suspended had one turn of seconds. */
const MAX_PAUSE_MS = 100;

/** Shares the time of the event loop between fetches and other work of one process. */
export const fetchShareOf = perApp(() => {
    let lastFetchAt = Number.NEGATIVE_INFINITY;
    let pausedUntil = 0;
    return {
        /** Notes that a fetch of a known caller began. */
        noteFetch() {
            lastFetchAt = performance.now();
        },
        /**
         * Returns how many milliseconds other work waits after a turn of the event loop that took `turnMs`: the same time, up to 100 ms, if
         * a fetch began in the last second. A fetch needs about seven turns. All other work of the process shares these pauses.
         */
        pauseAfter(turnMs: number) {
            const now = performance.now();
            if (now >= lastFetchAt + RECENT_MS) return 0;
            pausedUntil = Math.max(pausedUntil, now + Math.min(turnMs, MAX_PAUSE_MS));
            return pausedUntil - now;
        },
    };
});
