/** Times are milliseconds of one clock. Below this wait the rate of fetches only reflects how fast callers send them. */
const NO_WAIT_MS = 100;
/** If fetches are delayed again within this time, the delays belong to the same busy period. */
const CALM_MS = 2000;
/** The rate is measured over this time, in steps of APART_MS. */
const COUNTED_MS = 1000;
const APART_MS = 20;
/** A rate requires at least this time and this many fetches. With fewer fetches it requires the whole COUNTED_MS. */
const MIN_SPAN_MS = 100;
const MIN_THROUGH = 16;
/** The longest wait that a new fetch is accepted with during a short burst. */
const BURST_WAIT_MS = 3000;
const BURST_MS = 1000;
/** The longest wait that a new fetch is accepted with once delays last longer than BURST_MS. */
export const LASTING_WAIT_MS = 1000;
/** If workers have free slots but took no fetch for this long, the open fetches are waiting for slow sites, not for workers. */
const SILENT_MS = 250;
/** Maximum of the estimate. Nobody knows when a stopped queue continues. */
const MAX_MS = 30_000;

export type WaitEstimator = ReturnType<typeof createWaitEstimator>;

interface Through {
    number: number;
    at: number;
}

/**
 * Estimates how long a new fetch waits in this process and for a worker. By Little's law, the wait is the number of fetches ahead of it,
 * divided by the rate at which workers take fetches. A fetch counts as passed when a worker takes it, so slow sites cause no wait while
 * workers are free. Workers take fetches in order, so the last fetch known to have passed tells how many are ahead of a new one.
 * @param hasFreeSlots whether, as far as known, workers can take a fetch at once
 */
export function createWaitEstimator({ hasFreeSlots = () => false }: { hasFreeSlots?: () => boolean } = {}) {
    let entered = 0;
    let inside = 0;
    let latest: Through = { number: 0, at: Number.NEGATIVE_INFINITY };
    /** Fetches that passed within the last second; empty while fetches are not delayed. */
    let counted: Through[] = [];
    let delayedSince = Number.NEGATIVE_INFINITY;
    let delayedUntil = Number.NEGATIVE_INFINITY;
    let lastCallAt = Number.NEGATIVE_INFINITY;

    return {
        /** Registers a fetch and returns its number. */
        enter(now: number): number {
            forgetAfterRest(now);
            inside++;
            return ++entered;
        },
        /** Records that a fetch was answered. @param ranMs how long a worker ran it; undefined if no worker took it or reported */
        leave({ number, enteredAt }: { number: number; enteredAt: number }, now: number, ranMs: number | undefined): void {
            inside--;
            if (ranMs === undefined) return;
            // Earlier fetches have passed as well, even if their sites take longer.
            if (number <= latest.number) return;
            latest = { number, at: Math.max(now - ranMs, latest.at) };
            if (latest.at - enteredAt < NO_WAIT_MS) counted = [];
            else count();
        },
        /** Number of fetches that have not been answered yet. */
        inside: () => inside,
        waitMs,
        /** Whether the estimated wait exceeds the accepted wait. */
        isTooLong: (now: number) => waitMs(now) > (now - delayedSince < BURST_MS ? BURST_WAIT_MS : LASTING_WAIT_MS),
    };

    /** The estimated wait of a fetch that arrives now; 0 if fetches are not delayed or the wait is unknown. */
    function waitMs(now: number): number {
        forgetAfterRest(now);
        const [first] = counted;
        if (first === undefined) return 0;
        if (now - latest.at > SILENT_MS && hasFreeSlots()) return 0;
        const before = Math.min(entered - latest.number, inside);
        const span = now - first.at;
        const through = latest.number - first.number;
        if (span < (through < MIN_THROUGH ? COUNTED_MS : MIN_SPAN_MS)) return 0;
        return Math.min(MAX_MS, (before * span) / Math.max(1, through));
    }

    /** The rate is meaningless after a pause between calls, because it says nothing about the workers. */
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
