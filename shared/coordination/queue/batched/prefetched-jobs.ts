import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis, Result } from 'ioredis';
import type { BatchKeys } from './keys.ts';
import { GIVE_BACK_ORPHANED_SCRIPT, GIVE_BACK_SCRIPT, SCRIPT_BATCH, TAKE_SCRIPT } from './scripts.ts';

type Arguments = (string | number)[];

export type PrefetchedJob = [id: string, data: string, timestamp: string, priority: string, deferredFailure: string | null];

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsTake(...args: Arguments): Result<PrefetchedJob[], Context>;
        jobsGiveBack(...args: Arguments): Result<number, Context>;
        jobsGiveBackOrphaned(...args: Arguments): Result<number, Context>;
    }
}

const GIVE_BACK_MS = 500;

/**
 * The jobs that a worker has locked. Scripts take many jobs at once; they stay here until the worker starts them. A job is orphaned
 * when the reply that assigned it was lost with a connection; orphaned jobs go back to the queue.
 */
export interface PrefetchedJobs {
    /** False after `stop`, and while orphaned jobs go back. */
    mayTake(): boolean;
    /** Takes one job for each free slot. */
    takeJobs(connection: Redis): Promise<void>;
    /** Stores the jobs of a reply and resolves with their number; undefined if a connection was lost since the request. */
    storeReply(question: Promise<PrefetchedJob[]>): Promise<number | undefined>;
    /** Removes and returns the next job to start. */
    next(): PrefetchedJob | undefined;
    /** Whether a job is ready to start. */
    isAnyReady(): boolean;
    holds(id: string): boolean;
    /** Whether the worker holds more jobs than it has slots. */
    isOverfull(): boolean;
    /** Forgets a job. @returns whether this worker held it */
    drop(id: string): boolean;
    /** Whether the last request returned fewer jobs than it asked for, with no sign of new jobs since. */
    isQueueEmpty(): boolean;
    /** Clears `isQueueEmpty`: jobs may have been added. */
    assumeJobs(): void;
    /** Resolves when orphaned jobs are back in the queue; undefined when there are none to return. */
    reclaiming(): Promise<void> | undefined;
    /** Prepares a connection for `takeJobs`, and returns orphaned jobs when it closes. */
    watchOver(connection: Redis): void;
    /** Takes no more jobs. */
    stop(): void;
    isStopped(): boolean;
    /** Returns jobs that have not started. */
    giveBackReady(): Promise<void>;
    /** Returns jobs that have not started, and orphaned jobs. */
    giveBackOrphaned(): Promise<void>;
}

/**
 * Creates the store of a worker's locked jobs.
 * @param redis connection that returns jobs
 * @param concurrency slots of this worker
 */
export function createPrefetchedJobs(redis: Redis, keys: BatchKeys, concurrency: number): PrefetchedJobs {
    redis.defineCommand('jobsGiveBack', { numberOfKeys: 3, lua: GIVE_BACK_SCRIPT });
    redis.defineCommand('jobsGiveBackOrphaned', { numberOfKeys: 3, lua: GIVE_BACK_ORPHANED_SCRIPT });
    const { lines, base, token } = keys;
    /** Jobs that have not started. */
    const ready: PrefetchedJob[] = [];
    /** Ids of all jobs that are not finished, including those in `ready`. */
    const held = new Set<string>();
    /** Requests without a reply so far. */
    const questions = new Set<Promise<void>>();
    let isQueueEmpty = false;
    let isStopped = false;
    /** Runs while orphaned jobs go back to the queue; no jobs are taken meanwhile. */
    let reclaiming: Promise<void> | undefined;
    let isReclaimDue = false;
    /** Counts these runs. A reply to a request from before the last run holds jobs that went back, or that must go back. */
    let reclaimed = 0;
    watchOver(redis);

    function watchOver(connection: Redis): void {
        connection.defineCommand('jobsTake', { numberOfKeys: 5, lua: TAKE_SCRIPT });
        connection.on('close', reclaim);
    }

    function mayTake(): boolean {
        return !isStopped && reclaiming === undefined;
    }

    async function storeReply(question: Promise<PrefetchedJob[]>): Promise<number | undefined> {
        const askedAt = reclaimed;
        const jobs = await watch(question);
        if (askedAt !== reclaimed) {
            // These jobs went back, perhaps into a later reply, or must go back now. The script decides by the ids that are held here.
            if (jobs.length > 0) reclaim();
            return undefined;
        }
        for (const job of jobs) {
            ready.push(job);
            held.add(job[0]);
        }
        return jobs.length;
    }

    /** Remembers a request until it settles. */
    function watch(question: Promise<PrefetchedJob[]>): Promise<PrefetchedJob[]> {
        const settled = question.then(
            () => undefined,
            () => undefined,
        );
        questions.add(settled);
        void settled.then(() => questions.delete(settled));
        return question;
    }

    /** A lost connection may have carried a reply with jobs: returns all orphaned jobs. */
    function reclaim(): void {
        if (isStopped) return;
        isReclaimDue = true;
        reclaiming ??= putBack();
    }

    async function putBack(): Promise<void> {
        // During an outage every failed reconnect calls `reclaim`. All calls during one run cause one more run.
        while (isReclaimDue) {
            isReclaimDue = false;
            reclaimed++;
            await redis.jobsGiveBackOrphaned(...lines, base, token, ...held).catch(() => undefined);
        }
        reclaiming = undefined;
        isQueueEmpty = false;
    }

    return {
        mayTake,
        storeReply,
        watchOver,
        async takeJobs(connection) {
            const wanted = Math.max(1, Math.min(SCRIPT_BATCH, concurrency - held.size));
            const taken = await storeReply(connection.jobsTake(...keys.take, ...keys.lock, wanted));
            isQueueEmpty = taken !== undefined && taken < wanted;
        },
        next: () => ready.shift(),
        isAnyReady: () => ready.length > 0,
        holds: (id) => held.has(id),
        isOverfull: () => held.size > concurrency,
        drop: (id) => held.delete(id),
        isQueueEmpty: () => isQueueEmpty,
        assumeJobs() {
            isQueueEmpty = false;
        },
        reclaiming: () => reclaiming,
        stop() {
            isStopped = true;
        },
        isStopped: () => isStopped,
        async giveBackReady() {
            const ids = ready.splice(0).map(([id]) => id);
            for (const id of ids) held.delete(id);
            await atBest(redis.jobsGiveBack(...lines, base, token, ...ids));
        },
        async giveBackOrphaned() {
            const giveBack = async () => {
                // Jobs of pending replies would otherwise be missing below.
                await Promise.all(questions);
                for (const [id] of ready.splice(0)) held.delete(id);
                await redis.jobsGiveBackOrphaned(...lines, base, token, ...held);
            };
            await atBest(giveBack());
        },
    };
}

/** Waits a short time for Redis. Without Redis the locks expire. */
async function atBest(given: Promise<unknown>): Promise<void> {
    await Promise.race([given.catch(() => undefined), sleep(GIVE_BACK_MS, undefined, { ref: false })]);
}
