import { setTimeout as sleep } from 'node:timers/promises';
import type { IQueueBackend, Job, JobProgress, Worker } from 'bullmq';
import type { BullWorker, Envelope } from './backend.ts';
import type { TakenJobs } from './taken-jobs.ts';

/** How long a stopping worker waits until the store accepts the jobs that have not started. Otherwise the locks of these jobs expire. */
const GIVE_BACK_MS = 500;

interface BatchedBackend extends IQueueBackend {
    taken: TakenJobs;
}

/** Wraps BullMQ's worker. @param onError receives every error of the worker and its connections */
export function wrapWorker<B extends BatchedBackend, C>(
    worker: Worker<Envelope, void, string, B, JobProgress, C>,
    onError: (error: unknown) => void,
): BullWorker {
    worker.on('error', onError);
    const { taken } = worker.getBackend();
    return {
        run() {
            worker.run().catch(onError);
        },
        async pause() {
            taken.stopTaking();
            await worker.pause();
            await Promise.race([taken.givenBack(), sleep(GIVE_BACK_MS, undefined, { ref: false })]);
        },
        close: (isCut) => worker.close(isCut),
        lastProgressAt: () => taken.progressAt,
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

/** The processor never throws, so BullMQ fails a job only when its worker has stalled. */
function isStalledFailure(error: Error): boolean {
    return error.name === 'UnrecoverableError';
}
