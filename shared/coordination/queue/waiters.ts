import type { FetchOutcome } from '../../domain/fetch/fetch-job.ts';

interface Waiter {
    settle(outcome: FetchOutcome): void;
    isQueued: boolean;
}

/** The callers of this process that wait for an outcome, by job id. Each waiter settles exactly once. */
interface Waiters {
    /**
     * Registers a waiter. It settles with `onDeadline()` after `remainingMs`. `ended` runs when the waiter settles for any reason, before
     * the promise resolves.
     */
    open(id: string, remainingMs: number, onDeadline: () => FetchOutcome, ended: () => void): Promise<FetchOutcome>;
    /** @returns whether a caller waited; later calls for the same id have no effect */
    settle(id: string, outcome: FetchOutcome): boolean;
    /** Records that the job is in the queue. From then on, a job that is missing from the queue counts as lost. */
    markQueued(id: string): void;
    queuedIds(): string[];
    ids(): string[];
    size(): number;
}

export function createWaiters(): Waiters {
    const waiters = new Map<string, Waiter>();
    return {
        open(id, remainingMs, onDeadline, ended) {
            const { promise, resolve } = Promise.withResolvers<FetchOutcome>();
            const settle = (outcome: FetchOutcome) => {
                clearTimeout(timer);
                waiters.delete(id);
                ended();
                resolve(outcome);
            };
            const timer = setTimeout(() => settle(onDeadline()), remainingMs);
            waiters.set(id, { settle, isQueued: false });
            return promise;
        },
        settle(id, outcome) {
            const waiter = waiters.get(id);
            waiter?.settle(outcome);
            return waiter !== undefined;
        },
        markQueued(id) {
            const waiter = waiters.get(id);
            if (waiter) waiter.isQueued = true;
        },
        queuedIds: () => [...waiters].filter(([, waiter]) => waiter.isQueued).map(([id]) => id),
        ids: () => [...waiters.keys()],
        size: () => waiters.size,
    };
}
