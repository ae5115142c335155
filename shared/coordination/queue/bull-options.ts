/**
 * BullMQ worker options of both stores. When a worker dies, another worker fails its job after the lock has expired and two checks have
 * run: after 5 to 7 s. The queue never retries a job; the caller decides, because the caller knows the deadline. An idle loop polls once a
 * second, which limits the effect of a lost wake-up.
 */
export const WORKER_OPTIONS = {
    autorun: false,
    lockDuration: 5000,
    stalledInterval: 1000,
    maxStalledCount: 0,
    drainDelay: 1,
    runRetryDelay: 200,
} as const;

/** Delay of the worker loop after an error. */
export const RETRY_MS = 100;

/** Removes finished jobs, because they contain the params of the caller. */
export const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, attempts: 1, stackTraceLimit: 0 } as const;
