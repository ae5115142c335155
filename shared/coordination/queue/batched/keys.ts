import { randomUUID } from 'node:crypto';
import type { RedisQueueBackend } from 'bullmq';
import { WORKER_OPTIONS } from '../bull-worker.ts';

/** Arguments that every script call of one worker shares. */
export interface BatchKeys {
    /** Keys of the scripts that take jobs. */
    take: readonly string[];
    stalled: string;
    /** Keys of the scripts that return jobs. */
    lines: readonly string[];
    /** Prefix of every job's key. */
    base: string;
    /** The lock token for all jobs of this worker. */
    token: string;
    /** Prefix, token and lock duration in milliseconds. */
    lock: readonly (string | number)[];
}

/** Reads BullMQ's key names and creates a lock token. */
export function createBatchKeys(backend: RedisQueueBackend): BatchKeys {
    const { wait, active, prioritized, marker, meta, stalled } = backend.keys as Record<string, string>;
    const base = backend.toKey('');
    const token = randomUUID();
    return {
        take: [wait, active, prioritized, marker, meta] as string[],
        stalled: stalled as string,
        lines: [wait, active, marker] as string[],
        base,
        token,
        lock: [base, token, WORKER_OPTIONS.lockDuration],
    };
}
