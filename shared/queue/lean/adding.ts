import type { Redis, Result } from 'ioredis';
import { perTick } from '../../per-tick.ts';
import { sendNow } from '../../redis.ts';
import type { Envelope } from '../backend.ts';
import { JOB_OPTIONS } from '../bull-worker.ts';
import { ADD_SCRIPT, SCRIPT_BATCH } from './scripts.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsAdd(...args: (string | number)[]): Result<number, Context>;
    }
}

/**
 * Adds plain jobs, all that are added in one turn of the event loop by one script.
 * @param toKey BullMQ's names of its keys
 * @param ask gives up on a Redis that falls silent
 */
export function openLeanAdding(redis: Redis, toKey: (type: string) => string, ask: <Answer>(answer: Promise<Answer>) => Promise<Answer>) {
    redis.defineCommand('jobsAdd', { numberOfKeys: 3, lua: ADD_SCRIPT });
    const keys = [toKey('wait'), toKey('marker'), toKey('meta'), toKey('')];
    const options = JSON.stringify(JOB_OPTIONS);
    return perTick(
        async (jobs: readonly { id: string; envelope: Envelope }[]) => {
            const flat = jobs.flatMap(({ id, envelope }) => [id, JSON.stringify(envelope)]);
            const added = redis.jobsAdd(...keys, options, Date.now(), ...flat);
            sendNow(redis);
            await ask(added);
            return jobs;
        },
        { maxRunning: Number.POSITIVE_INFINITY, maxBatch: SCRIPT_BATCH },
    );
}
