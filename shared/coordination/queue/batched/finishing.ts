import type { Redis, Result } from 'ioredis';
import { perTick } from '../../../platform/per-tick.ts';
import { sendNow } from '../../../platform/redis.ts';
import { REPLY_TTL_S } from '../backend.ts';
import type { BatchKeys } from './keys.ts';
import type { PrefetchedJob, PrefetchedJobs } from './prefetched-jobs.ts';
import { FINISH_SCRIPT, SCRIPT_BATCH } from './scripts.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsFinish(...args: (string | number)[]): Result<PrefetchedJob[], Context>;
    }
}

/** Finishes jobs and stores their answers. */
export interface Finishing {
    /** Stores the answer of a job, and removes the job if this worker still holds its lock. */
    finish(answered: { id: string; channel: string; body: string }): Promise<unknown>;
    /** Whether `finish` already removed the job. True only once for each job. */
    wasFinished(id: string): boolean;
}

/** One script call finishes all jobs of one turn of the event loop and takes the same number of new ones. */
export function createFinishing(redis: Redis, keys: BatchKeys, prefetched: PrefetchedJobs): Finishing {
    redis.defineCommand('jobsFinish', { numberOfKeys: 6, lua: FINISH_SCRIPT });
    /** Jobs that are removed but that the worker has not reported as done. */
    const finished = new Set<string>();
    const finish = perTick(
        async (jobs: readonly { id: string; channel: string; body: string }[]) => {
            const flat = jobs.flatMap(({ id, channel, body }) => [id, channel, body]);
            // Only jobs of this worker free a slot. Answers for dead workers' jobs pass through here too.
            const wanted = prefetched.mayTake() ? jobs.filter(({ id }) => prefetched.holds(id)).length : 0;
            const answer = redis.jobsFinish(...keys.take, keys.stalled, ...keys.lock, wanted, REPLY_TTL_S, ...flat);
            sendNow(redis);
            await prefetched.storeReply(answer);
            for (const { id } of jobs) if (prefetched.drop(id)) finished.add(id);
            return jobs;
        },
        { maxRunning: Number.POSITIVE_INFINITY, maxBatch: SCRIPT_BATCH },
    );
    return { finish, wasFinished: (id) => finished.delete(id) };
}
