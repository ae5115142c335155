import type { Redis, Result } from 'ioredis';
import { perTick } from '../../../platform/per-tick.ts';
import { sendNow } from '../../../platform/redis.ts';
import type { Envelope } from '../backend.ts';
import { JOB_OPTIONS } from '../bull-worker.ts';
import { ADD_SCRIPT, SCRIPT_BATCH } from './scripts.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsAdd(...args: (string | number)[]): Result<number, Context>;
    }
}

/**
 * Adds plain jobs. One script call adds all jobs of one turn of the event loop.
 * @param toKey returns BullMQ's name of a key
 * @param guard rejects when Redis stalls
 */
export function createBatchedAdd(
    redis: Redis,
    toKey: (type: string) => string,
    guard: <Answer>(answer: Promise<Answer>) => Promise<Answer>,
) {
    redis.defineCommand('jobsAdd', { numberOfKeys: 3, lua: ADD_SCRIPT });
    const keys = [toKey('wait'), toKey('marker'), toKey('meta'), toKey('')];
    const options = JSON.stringify(JOB_OPTIONS);
    return perTick(
        async (jobs: readonly { id: string; envelope: Envelope }[]) => {
            const flat = jobs.flatMap(({ id, envelope }) => [id, JSON.stringify(envelope)]);
            const added = redis.jobsAdd(...keys, options, Date.now(), ...flat);
            sendNow(redis);
            await guard(added);
            return jobs;
        },
        { maxRunning: Number.POSITIVE_INFINITY, maxBatch: SCRIPT_BATCH },
    );
}
