import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { endsWithin, HANGING_MS } from './ends-within.ts';
import type { PrefetchedJobs } from './prefetched-jobs.ts';

/** BullMQ reopens the blocking connection after this delay, and waits for that without a limit. */
const BULL_WATCHDOG_MS = 1000;

type WaitForJob = RedisQueueBackend['waitForJob'];

/** The blocking wait of an idle worker. */
export interface Waiting {
    isWaiting(): boolean;
    /** BullMQ's `waitForJob`. @param timeout seconds */
    wait: WaitForJob;
    /** Resolves when the request queued behind the wait has its reply, or takes too long. */
    answered(): Promise<void>;
}

/** Wraps BullMQ's wait. @param waitForJob the original method */
export function createWaiting(backend: RedisQueueBackend, waitForJob: WaitForJob, prefetched: PrefetchedJobs): Waiting {
    /** The request that Redis answers when the wait ends. */
    let behindWait: Promise<void> | undefined;
    let isWaiting = false;
    /** True while an abandoned wait is still pending. */
    let isHanging = false;
    let watched: Redis | undefined;

    /**
     * Sends the request for jobs on the blocking connection, directly behind the wait. Redis answers it when the wait ends, which saves
     * a round trip. A job that finishes meanwhile takes at most one new job, so the worker never holds more jobs than slots.
     */
    async function askBehindWait(): Promise<void> {
        try {
            const blocking = (await backend.blockingClient) as unknown as Redis | undefined;
            if (blocking === undefined || !prefetched.mayTake()) return;
            if (watched !== blocking) prefetched.watchOver(blocking);
            watched = blocking;
            await prefetched.takeJobs(blocking);
            // The loop may have abandoned this request and filled the slots by another one.
            if (prefetched.isStopped() || prefetched.isOverfull()) await prefetched.giveBackReady();
        } catch {
            // The loop sends its own request and sees the error there.
        }
    }

    return {
        isWaiting: () => isWaiting,
        async wait(timeout) {
            if (prefetched.isAnyReady()) return { member: '0', score: 0 };
            const waitMs = timeout * 1000;
            if (isHanging) {
                await sleep(waitMs, undefined, { ref: false });
                prefetched.assumeJobs();
                return null;
            }
            isWaiting = true;
            const marker = waitForJob.call(backend, timeout);
            const behind = askBehindWait().finally(() => {
                if (behindWait === behind) behindWait = undefined;
            });
            behindWait = behind;
            try {
                if (await endsWithin(marker, waitMs + BULL_WATCHDOG_MS + HANGING_MS)) return await marker;
                behindWait = undefined;
                isHanging = true;
                void marker
                    .catch(() => undefined)
                    .then(() => {
                        isHanging = false;
                    });
                return null;
            } finally {
                isWaiting = false;
                prefetched.assumeJobs();
            }
        },
        async answered() {
            const behind = behindWait;
            // A connection that hangs must not block the loop, which has another one.
            if (behind === undefined || (await endsWithin(behind, HANGING_MS))) return;
            if (behindWait === behind) behindWait = undefined;
        },
    };
}
