import type { FetchOutcome } from '../../domain/fetch/fetch-job.ts';

/** Creates the list of callers of this process that wait for an outcome, by job id. Each of them is settled exactly once. */
export function createWaiters() {
    const waiters = new Map<string, { settle(outcome: FetchOutcome): void; isQueued: boolean }>();
    return {
        open(id: string): Promise<FetchOutcome> {
            return new Promise((settle) => waiters.set(id, { settle, isQueued: false }));
        },
        /** @returns whether a caller waited; later calls for the same id have no effect */
        settle(id: string, outcome: FetchOutcome): boolean {
            waiters.get(id)?.settle(outcome);
            return waiters.delete(id);
        },
        /** Records that the job is in the queue. From then on, a job that is missing from the queue counts as lost. */
        markQueued(id: string): void {
            const waiter = waiters.get(id);
            if (waiter) waiter.isQueued = true;
        },
        queuedIds: () => [...waiters].filter(([, waiter]) => waiter.isQueued).map(([id]) => id),
        ids: () => [...waiters.keys()],
        size: () => waiters.size,
    };
}
