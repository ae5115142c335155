import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { endsWithin, HANGING_MS } from './ends-within.ts';
import type { TakenJobs } from './taken-jobs.ts';

/** BullMQ opens the blocking connection anew when it is so late, and waits for that without an end. */
const BULL_WATCHDOG_MS = 1000;

type WaitForJob = RedisQueueBackend['waitForJob'];

/** A worker that has nothing to do, on the connection that blocks. */
export interface Waiting {
    isWaiting(): boolean;
    /** As BullMQ's `waitForJob` answers. @param timeout seconds */
    wait: WaitForJob;
    /** Ends when the question behind the wait is answered, or is given up. */
    answered(): Promise<void>;
}

/** @param waitForJob BullMQ's own wait */
export function openWaiting(backend: RedisQueueBackend, waitForJob: WaitForJob, taken: TakenJobs): Waiting {
    /** A question that stands behind a wait, and is answered with it. */
    let behindWait: Promise<void> | undefined;
    let isWaiting = false;
    /** A wait was given up that is not over yet. */
    let isHanging = false;
    let watched: Redis | undefined;

    /**
     * Sent on the connection that waits, right behind the wait: Redis answers it as soon as the wait is over, which saves a lone job
     * a way to Redis and back. Meanwhile a job that finishes brings at most one in its place, so that no more are held than slots.
     */
    async function askBehindWait(): Promise<void> {
        try {
            const blocking = (await backend.blockingClient) as unknown as Redis | undefined;
            if (blocking === undefined || !taken.mayTake()) return;
            if (watched !== blocking) taken.watchOver(blocking);
            watched = blocking;
            await taken.ask(blocking);
            // The loop may have given this question up, and filled the slots by another one.
            if (taken.isStopped() || taken.isOverfull()) await taken.giveBackReady();
        } catch {
            // The loop asks by itself, and learns then what is wrong.
        }
    }

    return {
        isWaiting: () => isWaiting,
        async wait(timeout) {
            if (taken.isAnyReady()) return { member: '0', score: 0 };
            const waitMs = timeout * 1000;
            if (isHanging) {
                await sleep(waitMs, undefined, { ref: false });
                taken.forgetLine();
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
                taken.forgetLine();
            }
        },
        async answered() {
            const behind = behindWait;
            // A connection that hangs must not keep the loop from the other one.
            if (behind === undefined || (await endsWithin(behind, HANGING_MS))) return;
            if (behindWait === behind) behindWait = undefined;
        },
    };
}
