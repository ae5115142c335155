/**
 * BullMQ worker options of both stores. When a worker dies, another one fails its job after the lock and two checks, 5 to 7 s. The queue
 * never retries: the caller, who knows the deadline, decides. An idle loop polls once a second, which limits the cost of a lost wake-up.
 */
export const WORKER_OPTIONS = {
    autorun: false,
    lockDuration: 5000,
    stalledInterval: 1000,
    maxStalledCount: 0,
    drainDelay: 1,
    runRetryDelay: 200,
} as const;

/** Finished jobs are removed, because params belong to the caller. */
export const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, attempts: 1, stackTraceLimit: 0 } as const;
