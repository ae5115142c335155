/** All times here are milliseconds of one clock. Below this wait, fetches count as not delayed: their rate is that of the callers. */
const NO_WAIT_MS = 100;
/** Delays that return within this time belong to the same busy period. */
const CALM_MS = 2000;
/** The rate covers this much time, in steps of APART_MS. */
const COUNTED_MS = 1000;
const APART_MS = 20;
/** A rate needs at least this time and this many fetches. With fewer of them it needs the whole COUNTED_MS. */
const LEAST_SPAN_MS = 100;
const LEAST_THROUGH = 16;
/** The longest wait that a new fetch may expect during a short burst. */
const BURST_WAIT_MS = 3000;
const BURST_MS = 1000;
/** The longest wait that a new fetch may expect once delays last longer than BURST_MS. */
export const LASTING_WAIT_MS = 1000;
/** If workers have free slots and took no fetch for this long, the open fetches wait for slow sites, not for workers. */
const SILENT_MS = 250;
/** The longest wait that is ever estimated. A stopped queue has no known end. */
const LONGEST_MS = 30_000;

/**
 * Estimates how long a new fetch waits in this process and for a worker, by Little's law: the fetches before it, divided by the rate at
 * which they get through. A fetch is through when a worker takes it, so that slow sites cause no wait while workers are free. Fetches get
 * through in order, so the last one that is known to be through tells how many are before a new one.
 */
export interface WaitEstimator {
    /** Counts a fetch. Returns its number. */
    enter(now: number): number;
    /**
     * A fetch was answered.
     * @param ranMs for how long a worker had it; undefined if none did, or none reported
     */
    leave(fetch: { number: number; enteredAt: number }, now: number, ranMs: number | undefined): void;
    /** Fetches that are not answered yet. */
    inside(): number;
    /** The wait of a fetch that comes now; 0 where fetches are not delayed, or the wait is unknown. */
    waitMs(now: number): number;
    /** Whether that is more than a fetch should wait. */
    isTooLong(now: number): boolean;
}

interface Through {
    number: number;
    at: number;
}

/**
 * Creates an estimator without a known rate.
 * @param hasFreeSlots whether workers could take a fetch at once, as far as is known
 */
export function createWaitEstimator({ hasFreeSlots = () => false }: { hasFreeSlots?: () => boolean } = {}): WaitEstimator {
    let entered = 0;
    let inside = 0;
    let latest: Through = { number: 0, at: Number.NEGATIVE_INFINITY };
    /** Fetches that got through in the last second; empty while they are not delayed. */
    let counted: Through[] = [];
    let delayedSince = Number.NEGATIVE_INFINITY;
    let delayedUntil = Number.NEGATIVE_INFINITY;
    let lastCallAt = Number.NEGATIVE_INFINITY;

    return {
        enter(now) {
            forgetAfterRest(now);
            inside++;
            return ++entered;
        },
        leave({ number, enteredAt }, now, ranMs) {
            inside--;
            if (ranMs === undefined) return;
            // Earlier ones are through as well, even if their sites take longer.
            if (number <= latest.number) return;
            latest = { number, at: Math.max(now - ranMs, latest.at) };
            if (latest.at - enteredAt < NO_WAIT_MS) counted = [];
            else count();
        },
        inside: () => inside,
        waitMs,
        isTooLong: (now) => waitMs(now) > (now - delayedSince < BURST_MS ? BURST_WAIT_MS : LASTING_WAIT_MS),
    };

    function waitMs(now: number): number {
        forgetAfterRest(now);
        const [first] = counted;
        if (first === undefined) return 0;
        if (now - latest.at > SILENT_MS && hasFreeSlots()) return 0;
        const before = Math.min(entered - latest.number, inside);
        const span = now - first.at;
        const through = latest.number - first.number;
        if (span < (through < LEAST_THROUGH ? COUNTED_MS : LEAST_SPAN_MS)) return 0;
        return Math.min(LONGEST_MS, (before * span) / Math.max(1, through));
    }

    /** A pause between calls says nothing about the workers. */
    function forgetAfterRest(now: number): void {
        if (now - lastCallAt > CALM_MS) counted = [];
        lastCallAt = now;
    }

    function count(): void {
        if (latest.at - delayedUntil > CALM_MS) delayedSince = latest.at;
        delayedUntil = latest.at;
        const last = counted.at(-1);
        if (last === undefined || latest.at - last.at >= APART_MS) counted.push(latest);
        while (counted[1] !== undefined && latest.at - counted[1].at >= COUNTED_MS) counted.shift();
    }
}
