import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** What strangers' packages are judged with: about a tenth of a core where the event loop wants all of it. */
export const BESIDE_THE_LOOP = 10;
/** What reads answers for callers that wait: a third. */
export const BESIDE_CALLS = 5;

/** Lets the event loops of this machine go first. On Linux, where a thread has a priority of its own; elsewhere it does nothing. */
export function lowerThreadPriority(nice: number): void {
    try {
        const [, thread] = /(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
        setPriority(Number(thread), nice);
    } catch {
        // Priorities are a help and no promise.
    }
}

/** The same for a child process. */
export function lowerChildPriority(pid: number, nice: number): void {
    try {
        setPriority(pid, nice);
    } catch {
        // It ended, or the system allows no priorities.
    }
}
