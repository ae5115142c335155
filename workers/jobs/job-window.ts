import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the delay of the event loop is sampled, in milliseconds. */
const SAMPLE_MS = 10;
/**
 * Delay of the event loop from which on jobs are too many beside live calls, in milliseconds. Beside a batch, the 99th percentile of live
 * calls of the same account was 116 ms with 8, 86 with 2, and 60 alone (`npm run bench -- --quick --only batch_beside`, on two cores).
 */
const LATE_MS = 2;
/** One of so many slots of jobs stays with them: live calls alone may make a loop late. */
const LEAST_SHARE = 16;
/** How long after a live call others are expected, in milliseconds. */
const RECENT_MS = 1000;

/** How many jobs may run at once. */
interface JobWindow {
    size(): number;
    /** Call it regularly. @param sinceLiveMs milliseconds since the last live call began */
    adapt(sinceLiveMs: number): void;
}

/**
 * Without live calls, jobs may take all of their slots. Beside live calls their number is halved while the event loop is late, and grows
 * slowly while it is not: jobs that only wait for their sites cost live calls nothing, jobs that need the CPU do.
 * @param most slots of jobs
 * @param delay of the event loop since it was last asked, in milliseconds
 */
export function createJobWindow(most: number, delay: () => number): JobWindow {
    const least = Math.ceil(most / LEAST_SHARE);
    let size = most;
    return {
        size: () => size,
        adapt(sinceLiveMs) {
            const isLate = delay() > LATE_MS;
            if (sinceLiveMs > RECENT_MS) size = most;
            else if (isLate) size = Math.max(least, Math.floor(size / 2));
            else size = Math.min(most, size + Math.ceil(size / 8));
        },
    };
}

/** Watches the delay of the event loop. `delay` is the 90th percentile since it was last asked, in milliseconds. */
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
