import type { FetchOutcome } from '../domain/fetch.ts';

interface Waiter {
    settle(outcome: FetchOutcome): void;
    isQueued: boolean;
}

/** Everybody in this process who waits for an outcome, by job id. Each waiter ends exactly once and leaves nothing behind. */
export interface Waiters {
    /**
     * Registers a waiter; it ends with `onDeadline()` after `remainingMs`.
     * `ended` runs when it ends, whatever the reason, before the promise resolves.
     */
    open(id: string, remainingMs: number, onDeadline: () => FetchOutcome, ended: () => void): Promise<FetchOutcome>;
    /** True when somebody was waiting; later settlements of the same id change nothing. */
    settle(id: string, outcome: FetchOutcome): boolean;
    /** Its job is known to be in the queue: from now on a missing job means a lost one. */
    markQueued(id: string): void;
    queuedIds(): string[];
    ids(): string[];
    size(): number;
}

/** Nobody waits yet. */
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
