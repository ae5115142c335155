import { readlinkSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { codeOfError } from './error-code.ts';

/** Niceness of side threads, which check packages. They get about a tenth of a core when the event loop needs a whole core. */
export const SIDE_THREAD_NICENESS = 10;
/** Niceness of processes that read answers for waiting callers. They get about a third of a core when the event loop needs a whole core. */
export const ANSWER_READER_NICENESS = 5;

/** Lowers the priority of the current thread, so that event loops run first. Does nothing where threads have none: only Linux has them. */
export function lowerThreadPriority(nice: number): void {
    try {
        const thread = basename(readlinkSync('/proc/thread-self'));
        setPriority(Number(thread), nice);
    } catch {
        // Correctness does not depend on priorities, so errors are ignored.
    }
}

/** Delay before another attempt. All unprivileged processes together may change sessions ten times a second. */
const RETRY_MS = 150;
const RETRIES = 10;

/**
 * Lowers the priority of a child process that was started with `detached`, which gives it a session of its own. Unless processes are in a
 * control group of their own (containers are), Linux first shares the cores evenly between sessions. A priority then applies only among the
 * processes of one session, and each session has a priority too (sched(7), "autogroup").
 */
export function lowerChildPriority(pid: number, nice: number, retries = RETRIES): void {
    try {
        setPriority(pid, nice);
        writeFileSync(`/proc/${pid}/autogroup`, String(nice));
    } catch (error) {
        // The process has ended, or the system has no priorities of sessions.
        if (retries === 0 || codeOfError(error) !== 'EAGAIN') return;
        setTimeout(() => lowerChildPriority(pid, nice, retries - 1), RETRY_MS).unref();
    }
}
