import type { IQueueBackend, Job, JobProgress, Worker } from 'bullmq';
import type { BullWorker, Envelope } from './backend.ts';

/** A backend that records when the worker loop last made progress, by `performance.now()`. */
interface ObservedBackend extends IQueueBackend {
    progressAt: number;
}

/** Wraps BullMQ's worker. @param onError receives every error of the worker and its connections */
export function wrapWorker<B extends ObservedBackend, C>(
    worker: Worker<Envelope, void, string, B, JobProgress, C>,
    onError: (error: unknown) => void,
): BullWorker {
    worker.on('error', onError);
    return {
        run() {
            worker.run().catch(onError);
        },
        pause: () => worker.pause(),
        close: () => worker.close(),
        lastProgressAt: () => worker.getBackend().progressAt,
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
