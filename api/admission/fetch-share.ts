import { perApp } from './per-app.ts';

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
         * How many milliseconds other work waits after a turn of the event loop that took so many: as long, up to 100 ms, if a fetch began
         * in the last second. A fetch needs about seven turns. All other work of the process shares these pauses.
         */
        pauseAfter(turnMs: number) {
            const now = performance.now();
            if (now >= lastFetchAt + RECENT_MS) return 0;
            pausedUntil = Math.max(pausedUntil, now + Math.min(turnMs, MAX_PAUSE_MS));
            return pausedUntil - now;
        },
    };
});
