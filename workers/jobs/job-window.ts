import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the delay of the event loop is sampled. */
const SAMPLE_MS = 10;
/**
 * Delay of the event loop above which the number of jobs is reduced while there are live calls, in milliseconds. During a batch, the 99th
 * percentile of live calls of the same account was 116 ms with a limit of 8, 86 ms with 2, and 60 ms without a batch (`npm run bench --
 * --quick --only batch_beside`, on two cores).
 */
const LATE_MS = 2;
/** Jobs keep at least 1/16 of their slots, since live calls alone may delay the event loop. */
const MIN_SHARE = 16;
/** How long after a live call further live calls are expected. */
const RECENT_MS = 1000;

/**
 * Creates the bound of jobs that may run at once. Without live calls, jobs may use all of their slots. With live calls, their number is
 * halved while the event loop is delayed, and otherwise grows slowly: jobs that wait for their sites do not slow down live calls, but jobs
 * that need the CPU do.
 * @param max slots of jobs
 * @param delay returns the delay of the event loop since its previous call, in milliseconds
 */
export function createJobWindow(max: number, delay: () => number) {
    const min = Math.ceil(max / MIN_SHARE);
    let size = max;
    return {
        size: () => size,
        /** Must be called regularly. @param sinceLiveMs milliseconds since the last live call began */
        adapt(sinceLiveMs: number): void {
            const isLate = delay() > LATE_MS;
            if (sinceLiveMs > RECENT_MS) size = max;
            else if (isLate) size = Math.max(min, Math.floor(size / 2));
            else size = Math.min(max, size + Math.ceil(size / 8));
        },
    };
}

/** Watches the delay of the event loop. `delay` returns the 90th percentile since its previous call, in milliseconds. */
export function watchLoopDelay(): { delay(): number; stop(): void } {
    const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS });
    delays.enable();
    return {
        delay() {
            const lateMs = delays.percentile(90) / 1e6 - SAMPLE_MS;
            delays.reset();
            return lateMs;
        },
        stop: () => void delays.disable(),
    };
}
