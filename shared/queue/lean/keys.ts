import { randomUUID } from 'node:crypto';
import type { RedisQueueBackend } from 'bullmq';
import { WORKER_OPTIONS } from '../bull-worker.ts';

/** What the scripts of one worker are told each time. */
export interface LeanKeys {
    /** Keys of the scripts that take. */
    take: readonly string[];
    stalled: string;
    /** Keys of the scripts that give back. */
    lines: readonly string[];
    /** What the key of every job begins with. */
    base: string;
    /** One lock token serves for all jobs of this worker. */
    token: string;
    /** Base, token and how long a lock holds, in milliseconds. */
    lock: readonly (string | number)[];
}

/** BullMQ's own keys, and a new token. */
export function openLeanKeys(backend: RedisQueueBackend): LeanKeys {
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
