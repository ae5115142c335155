import { LONGEST_MS } from './backlog.ts';

/**
 * Below this wait, jobs count as not delayed: the rate then depends on the callers, not on the workers. All times here are milliseconds.
 */
const NO_WAIT_MS = 100;
/** Delays that return within this time belong to the same busy period. */
const CALM_MS = 2000;
/** The rate covers this much time, in steps of APART_MS. */
const COUNTED_MS = 1000;
const APART_MS = 20;
/** A rate needs at least this time span and this many jobs. With fewer jobs it needs the whole COUNTED_MS. */
const LEAST_SPAN_MS = 100;
const LEAST_TAKEN = 16;
/** The mean run time covers about this many jobs. */
const RUNS = 32;
/**
 * Workers report a job only when it is done. For this many mean run times without a report, the estimator assumes that workers keep taking
 * jobs. After that it assumes that they take none: otherwise jobs that time out unreported would look like jobs of slow sites.
 */
const UNTOLD_RUNS = 2;
/** The longest wait that a new call may expect during a short burst. */
const BURST_WAIT_MS = 3000;
const BURST_MS = 1000;
/** The longest wait that a new call may expect once delays last longer than BURST_MS. */
const LASTING_WAIT_MS = 1000;

/** The expected delay of a job that is added now. */
export interface QueueDelay {
    /** The wait for a worker; 0 where jobs do not wait, or the wait is unknown. */
    waitMs: number;
    /** How long jobs have been delayed; 0 where they are not. */
    lastsMs: number;
}

/**
 * Estimates the delay of one process's jobs. Workers take jobs in order of arrival, so the number of jobs ahead divided by the rate gives
 * the wait. The rate counts only jobs that had to wait: while workers are free, slow sites cause no delay. All times are of one clock.
 */
export interface QueueDelayEstimator {
    /** Adds a job and returns its number. */
    join(now: number): number;
    /** Records that a worker took a job at `toldAt - forMs`. `since` is the time when its call arrived. */
    taken(number: number, since: number, ran: { toldAt: number; forMs: number }): void;
    /**
     * @param others calls ahead of the new one that have no number yet
     * @param open numbered jobs that are not finished
     */
    estimate(now: number, before: { others: number; open: number }): QueueDelay;
}

interface Taken {
    number: number;
    at: number;
}

/** With fewer calls at the workers, no delay is estimated: one slow site among them would look like stopped workers. */
export const LEAST_IN_LINE = 16;

/** Whether to reject a new call. @param share the part of the longest wait that this caller may have */
export function isTooLong({ waitMs, lastsMs }: QueueDelay, share = 1): boolean {
    return waitMs > share * (lastsMs < BURST_MS ? BURST_WAIT_MS : LASTING_WAIT_MS);
}

const NO_DELAY: QueueDelay = { waitMs: 0, lastsMs: 0 };

/** Creates an estimator without a known rate. */
export function createQueueDelayEstimator(): QueueDelayEstimator {
    let joined = 0;
    let latest: Taken = { number: 0, at: Number.NEGATIVE_INFINITY };
    /** Jobs taken in the last second; empty while jobs do not wait. */
    let counted: Taken[] = [];
    let waitingSince = Number.NEGATIVE_INFINITY;
    let waitingUntil = Number.NEGATIVE_INFINITY;
    let usualRunMs: number | undefined;
    let lastCallAt = Number.NEGATIVE_INFINITY;

    return {
        join(now) {
            forgetAfterRest(now);
            return ++joined;
        },
        taken(number, since, { toldAt, forMs }) {
            // A job that came too late was taken but not run.
            if (forMs > 0) usualRunMs = usualRunMs === undefined ? forMs : usualRunMs + (forMs - usualRunMs) / RUNS;
            // Workers take jobs in order: all earlier ones were taken too.
            if (number <= latest.number) return;
            latest = { number, at: Math.max(toldAt - forMs, latest.at) };
            if (latest.at - since < NO_WAIT_MS) counted = [];
            else count();
        },
        estimate(now, { others, open }) {
            forgetAfterRest(now);
            const [first] = counted;
            if (first === undefined) return NO_DELAY;
            const lastsMs = now - waitingSince;
            const before = Math.min(joined - latest.number, open) + others;
            const taken = latest.number - first.number;
            const silence = now - latest.at;
            const untold = Math.min(silence, UNTOLD_RUNS * (usualRunMs ?? 0));
            const span = latest.at - first.at + silence - untold;
            if (span < (taken < LEAST_TAKEN ? COUNTED_MS : LEAST_SPAN_MS)) return { waitMs: 0, lastsMs };
            return { waitMs: Math.min(LONGEST_MS, Math.max(0, (before * span) / Math.max(1, taken) - untold)), lastsMs };
        },
    };

    /** A pause between calls says nothing about the workers. */
    function forgetAfterRest(now: number): void {
        if (now - lastCallAt > CALM_MS) counted = [];
        lastCallAt = now;
    }

    function count(): void {
        if (latest.at - waitingUntil > CALM_MS) waitingSince = latest.at;
        waitingUntil = latest.at;
        const last = counted.at(-1);
        if (last === undefined || latest.at - last.at >= APART_MS) counted.push(latest);
        while (counted[1] !== undefined && latest.at - counted[1].at >= COUNTED_MS) counted.shift();
    }
}
