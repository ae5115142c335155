import { setTimeout as sleep } from 'node:timers/promises';
import type { IQueueBackend, Job, JobProgress, Worker } from 'bullmq';
import type { BullWorker, Envelope } from './backend.ts';

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

type AnyWorker<B extends IQueueBackend, C> = Worker<Envelope, void, string, B, JobProgress, C>;

/** Wraps BullMQ's worker. @param onError receives every error of the worker and its connections */
export function wrapWorker<B extends IQueueBackend, C>(
    worker: AnyWorker<B, C>,
    concurrency: number,
    onError: (error: unknown) => void,
): BullWorker {
    worker.on('error', onError);
    startAtOnce(worker);
    const progress = watchProgress(worker.getBackend(), concurrency);
    return {
        run() {
            worker.run().catch(onError);
        },
        pause: () => worker.pause(),
        close: () => worker.close(),
        lastProgressAt: progress,
        onStalled(listener) {
            worker.on('failed', (job: Job<Envelope> | undefined, error: Error) => {
                if (job?.id !== undefined && isStalledFailure(error)) listener(job.id, job.data);
            });
        },
        onLockLost(listener) {
            worker.on('lockRenewalFailed', listener);
        },
    };
}

/** A job that has not started after this time failed inside the library, in milliseconds. */
const START_MS = 1000;

/**
 * Makes BullMQ start each job before it takes the next one. Its loop takes all waiting jobs, one round trip each, before it starts the
 * first: under load a job waited 25 ms in a worker with free slots. The loop pauses while `isRateLimited` is true, so this override
 * returns true until the taken job has started. The method is private to the library; without it the worker is only slower.
 */
function startAtOnce<B extends IQueueBackend, C>(worker: AnyWorker<B, C>): void {
    const taken = new Map<string, number>();
    const backend = worker.getBackend();
    const moveToActive = backend.moveToActive.bind(backend);
    backend.moveToActive = async (...args) => {
        const next = await moveToActive(...args);
        const [job, id] = next;
        if (job && id) taken.set(id, performance.now());
        return next;
    };
    for (const event of ['active', 'completed', 'failed'] as const) {
        worker.on(event, (job: Job<Envelope> | undefined) => taken.delete(job?.id ?? ''));
    }
    const library = worker as unknown as { isRateLimited?: () => boolean };
    const isRateLimited = library.isRateLimited?.bind(worker);
    if (isRateLimited === undefined) return;
    library.isRateLimited = () => {
        const [oldest] = taken.values();
        return isRateLimited() || (oldest !== undefined && performance.now() - oldest < START_MS);
    };
}

/** The processor never throws, so BullMQ fails a job only when its worker stalled. */
function isStalledFailure(error: Error): boolean {
    return error.name === 'UnrecoverableError';
}

/**
 * Tracks the progress of the loop. It is alive when it requests work (at least once a second when idle), or when all slots are busy and
 * job locks are renewed. `isRunning()` is also true for a loop that hangs.
 */
function watchProgress(backend: IQueueBackend, concurrency: number): () => number {
    let at = performance.now();
    const moveToActive = backend.moveToActive.bind(backend);
    const waitForJob = backend.waitForJob.bind(backend);
    const extendLocks = backend.extendLocks.bind(backend);
    backend.moveToActive = async (...args) => {
        try {
            const next = await moveToActive(...args);
            at = performance.now();
            return next;
        } catch (error) {
            // The loop retries without a delay after errors that it does not count as a lost connection, such as a server that starts.
            await sleep(100);
            throw error;
        }
    };
    backend.waitForJob = async (...args) => {
        const marker = await waitForJob(...args);
        at = performance.now();
        return marker;
    };
    backend.extendLocks = async (ids, tokens, duration) => {
        const failed = await extendLocks(ids, tokens, duration);
        if (ids.length >= concurrency) at = performance.now();
        return failed;
    };
    return () => at;
}
