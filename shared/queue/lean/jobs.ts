import type { JobJson, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { JOB_OPTIONS } from '../bull-worker.ts';
import { endsWithin, HANGING_MS } from './ends-within.ts';
import { openFinishing } from './finishing.ts';
import { openLeanKeys } from './keys.ts';
import { openTakenJobs, type TakenJob } from './taken-jobs.ts';
import { openWaiting } from './waiting.ts';

export interface LeanJobs {
    /** Stores the answer of a job and lets the job go, where it is still ours. */
    finish(id: string, channel: string, body: string): Promise<void>;
    /** From now on nothing new is taken; what was taken and not started is put back as soon as nothing is waited for any more. */
    stopTaking(): void;
    /** Puts back what this worker has locked and does not work on. */
    giveBack(): Promise<void>;
}

/**
 * Gives BullMQ's worker its jobs by scripts that take and finish many at once. The worker asks for one at a time, so that what was
 * taken beyond the first waits here for its next question, which comes in the same turn.
 * @param concurrency slots of the worker
 */
export function openLeanJobs(redis: Redis, backend: RedisQueueBackend, concurrency: number): LeanJobs {
    const keys = openLeanKeys(backend);
    const taken = openTakenJobs(redis, keys, concurrency);
    const { finish, wasFinished } = openFinishing(redis, keys, taken);
    const { disconnectBlocking, extendLocks, moveToFailed, waitForJob } = backend;
    const waiting = openWaiting(backend, waitForJob, taken);
    const next = () => answerOf(taken.next());

    backend.moveToActive = async () => {
        // Whoever asks while another one waits learns what is here: the rest comes with the end of the wait, or of a job.
        if (waiting.isWaiting()) return next();
        await waiting.answered();
        const reclaiming = taken.reclaiming();
        if (reclaiming !== undefined) await endsWithin(reclaiming, HANGING_MS);
        if (!taken.isAnyReady()) {
            if (!taken.isLineEmpty() && taken.mayTake()) await taken.ask(redis);
            else taken.forgetLine();
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
        if (taken.isStopped()) await taken.giveBackUnheard();
    };
    backend.extendLocks = (ids, _tokens, duration) => extendLocks.call(backend, ids, Array(ids.length).fill(keys.token), duration);
    backend.moveToFailed = async (job, reason, remove, _token, _isNextWanted, fields) => {
        try {
            // The next one is asked for by our own script: what BullMQ's brings along nobody here would know of.
            return await moveToFailed.call(backend, job, reason, remove, keys.token, false, fields);
        } finally {
            taken.drop(job.id ?? '');
        }
    };

    return {
        async finish(id, channel, body) {
            await finish({ id, channel, body });
        },
        stopTaking: taken.stop,
        giveBack: taken.giveBackUnheard,
    };
}

/** As BullMQ's own `moveToActive` answers; empty where there is no job. */
function answerOf(job: TakenJob | undefined): [job: JobJson, id: string, limitMs: number, delayUntil: number] | [] {
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
