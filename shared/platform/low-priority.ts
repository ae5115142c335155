import { readlinkSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The priority of threads that check packages: about a tenth of a core when the event loop needs all of it. */
export const PACKAGE_CHECK_NICENESS = 10;
/** The niceness of processes that read answers of waiting callers: about a third of a core when the event loop needs all of it. */
export const ANSWER_READER_NICENESS = 5;

/** Lets the event loops of this machine go first. On Linux, where a thread has a priority of its own; elsewhere it does nothing. */
export function lowerThreadPriority(nice: number): void {
    try {
        const [, thread] = /(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
        setPriority(Number(thread), nice);
    } catch {
        // Priorities are a help and no promise.
    }
}

/** How often an unprivileged process may change a session: ten times a second in all. */
const RETRY_MS = 150;
const RETRIES = 10;

/**
 * The same for a child process that was started with `detached`, which gives it a session of its own. Where processes are in no group of
 * their own (containers are), Linux first shares the cores evenly between sessions: a priority counts among the processes of one, and each
 * session has one too (sched(7), "autogroup").
 */
export function lowerChildPriority(pid: number, nice: number, retries = RETRIES): void {
    try {
        setPriority(pid, nice);
        writeFileSync(`/proc/${pid}/autogroup`, String(nice));
    } catch (error) {
        // It ended, or the system knows no priorities of sessions.
        if (retries === 0 || !(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        setTimeout(() => lowerChildPriority(pid, nice, retries - 1), RETRY_MS).unref();
    }
}
