import type { JobJson, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { JOB_OPTIONS } from '../bull-worker.ts';
import { endsWithin, HANGING_MS } from './ends-within.ts';
import { createFinishing } from './finishing.ts';
import { createBatchKeys } from './keys.ts';
import { createPrefetchedJobs, type PrefetchedJob } from './prefetched-jobs.ts';
import { createWaiting } from './waiting.ts';

export interface BatchedJobs {
    /** Stores the answer of a job, and removes the job if this worker still holds its lock. */
    finish(id: string, channel: string, body: string): Promise<void>;
    /** Takes no more jobs. Jobs that have not started go back to the queue when the blocking wait ends. */
    stopTaking(): void;
    /** Returns jobs that this worker has locked but not started. */
    giveBack(): Promise<void>;
}

/**
 * Replaces BullMQ's calls that take and finish single jobs with scripts that handle many. BullMQ asks for one job at a time, so the
 * others stay here as prefetched jobs until its next call, which follows in the same turn.
 * @param concurrency slots of the worker
 */
export function createBatchedJobs(redis: Redis, backend: RedisQueueBackend, concurrency: number): BatchedJobs {
    const keys = createBatchKeys(backend);
    const prefetched = createPrefetchedJobs(redis, keys, concurrency);
    const { finish, wasFinished } = createFinishing(redis, keys, prefetched);
    const { disconnectBlocking, extendLocks, moveToFailed, waitForJob } = backend;
    const waiting = createWaiting(backend, waitForJob, prefetched);
    const next = () => toBullResult(prefetched.next());

    backend.moveToActive = async () => {
        // While one call blocks, others get only prefetched jobs.
        if (waiting.isWaiting()) return next();
        await waiting.answered();
        const reclaiming = prefetched.reclaiming();
        if (reclaiming !== undefined) await endsWithin(reclaiming, HANGING_MS);
        if (!prefetched.isAnyReady()) {
            if (!prefetched.isQueueEmpty() && prefetched.mayTake()) await prefetched.takeJobs(redis);
            else prefetched.assumeJobs();
        }
        return next();
    };
    backend.moveToCompleted = async ({ id = '' }, _value, _remove, _token, isNextWanted) => {
        if (!wasFinished(id)) {
            await finish({ id, channel: '', body: '' });
            wasFinished(id);
        }
        return { result: isNextWanted ? next() : undefined, finishedOn: Date.now() };
    };
    backend.waitForJob = waiting.wait;
    backend.disconnectBlocking = async (...args) => {
        await disconnectBlocking.apply(backend, args);
        if (prefetched.isStopped()) await prefetched.giveBackOrphaned();
    };
    backend.extendLocks = (ids, _tokens, duration) => extendLocks.call(backend, ids, Array(ids.length).fill(keys.token), duration);
    backend.moveToFailed = async (job, reason, remove, _token, _isNextWanted, fields) => {
        try {
            // Do not fetch the next job here: a job that BullMQ's script takes would be missing from the prefetched jobs.
            return await moveToFailed.call(backend, job, reason, remove, keys.token, false, fields);
        } finally {
            prefetched.drop(job.id ?? '');
        }
    };

    return {
        async finish(id, channel, body) {
            await finish({ id, channel, body });
        },
        stopTaking: prefetched.stop,
        giveBack: prefetched.giveBackOrphaned,
    };
}

/** The result of BullMQ's `moveToActive`; empty when there is no job. */
function toBullResult(job: PrefetchedJob | undefined): [job: JobJson, id: string, limitMs: number, delayUntil: number] | [] {
    if (job === undefined) return [];
    const [id, data, timestamp, priority, deferredFailure] = job;
    const json: JobJson = {
        id,
        name: 'fetch',
        data,
        opts: JOB_OPTIONS,
        progress: 0,
        attemptsMade: 0,
        attemptsStarted: 1,
        timestamp: Number(timestamp),
        processedOn: Date.now(),
        priority: Number(priority),
        delay: 0,
        failedReason: '',
        stacktrace: '[]',
        returnvalue: 'null',
        stalledCounter: 0,
        ...(deferredFailure === null ? {} : { deferredFailure }),
    };
    return [json, id, 0, 0];
}
