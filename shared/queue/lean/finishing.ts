import type { Redis, Result } from 'ioredis';
import { perTick } from '../../per-tick.ts';
import { sendNow } from '../../redis.ts';
import { REPLY_TTL_S } from '../backend.ts';
import type { LeanKeys } from './keys.ts';
import { FINISH_SCRIPT, SCRIPT_BATCH } from './scripts.ts';
import type { TakenJob, TakenJobs } from './taken-jobs.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsFinish(...args: (string | number)[]): Result<TakenJob[], Context>;
    }
}

/** The end of jobs, and their answers. */
export interface Finishing {
    /** Stores the answer of a job and lets the job go, where it is still ours. */
    finish(answered: { id: string; channel: string; body: string }): Promise<unknown>;
    /** Whether the job left the queue with its answer already; that is told once. */
    wasFinished(id: string): boolean;
}

/** Finishes all jobs of one turn of the event loop by one script, which brings as many new ones along. */
export function openFinishing(redis: Redis, keys: LeanKeys, taken: TakenJobs): Finishing {
    redis.defineCommand('jobsFinish', { numberOfKeys: 6, lua: FINISH_SCRIPT });
    /** Before the worker says that they are done. */
    const finished = new Set<string>();
    const finish = perTick(
        async (jobs: readonly { id: string; channel: string; body: string }[]) => {
            const flat = jobs.flatMap(({ id, channel, body }) => [id, channel, body]);
            // As many as finish here ask for their next one; those of other workers, whose answers are given too, do not.
            const wanted = taken.mayTake() ? jobs.filter(({ id }) => taken.holds(id)).length : 0;
            const answer = redis.jobsFinish(...keys.take, keys.stalled, ...keys.lock, wanted, REPLY_TTL_S, ...flat);
            sendNow(redis);
            await taken.keep(answer);
            for (const { id } of jobs) if (taken.drop(id)) finished.add(id);
            return jobs;
        },
        { maxRunning: Number.POSITIVE_INFINITY, maxBatch: SCRIPT_BATCH },
    );
    return { finish, wasFinished: (id) => finished.delete(id) };
}
