import { setTimeout as sleep } from 'node:timers/promises';
import type { IQueueBackend, Job, JobProgress, Worker } from 'bullmq';
import type { BullWorker, Envelope } from './backend.ts';

/**
 * How both stores run BullMQ's worker. A dead worker's job is failed by a living one after lock and two checks, 5 to 7 s, and never
 * run again by the queue: whoever holds the deadline decides. An idle loop goes round once a second, which also bounds what a lost
 * wake-up costs.
 */
export const WORKER_OPTIONS = {
    autorun: false,
    lockDuration: 5000,
    stalledInterval: 1000,
    maxStalledCount: 0,
    drainDelay: 1,
    runRetryDelay: 200,
} as const;

/** Jobs leave nothing behind: their params are the caller's own. */
export const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, attempts: 1, stackTraceLimit: 0 } as const;

type AnyWorker<B extends IQueueBackend, C> = Worker<Envelope, void, string, B, JobProgress, C>;

/** @param onError told about every error of the worker and its connections */
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

/** A job that was taken and did not start for so long is not waited for: it failed in the library's own hands. */
const START_MS = 1000;

/**
 * BullMQ's loop takes all jobs that wait, one round trip after the other, before it starts the first one: under load a job lay 25 ms
 * in a worker with free slots. It does not take while it believes itself rate limited, so it is told so until what was taken has
 * started; that method is private to the library, and without it everything works, only slower.
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

/** The processor never throws, so a failure is the verdict over a job whose worker went silent. */
function isStalledFailure(error: Error): boolean {
    return error.name === 'UnrecoverableError';
}

/**
 * The loop is alive when it asks the store for work (at least once a second when idle), or when every slot is taken and the locks of
 * the running jobs are renewed. `isRunning()` would say yes for a loop that hangs for ever.
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
            // The loop asks again at once after errors that it does not take for lost connections (a server that is starting up).
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
