import { setTimeout as pause } from 'node:timers/promises';
import { BatchClosed, WaitedTooLong } from '../batch.ts';

/**
 * What a failed statement means for what it was to do. `unsent`: it never reached the database. `unknown`: it may have been
 * committed, only its answer is missing. `undone`: rolled back for somebody else's sake. `fault`: refused for what it says.
 */
export type Failure = 'unsent' | 'unknown' | 'undone' | 'fault';

const UNSENT = new Set([
    ...['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', '57P03', '53300'],
    // The server lets nobody in: a database that is shut or being replaced, a password that is being changed.
    ...['55000', '3D000', '28000', '28P01'],
]);
const UNDONE = new Set(['40001', '40P01', '55P03']);
const UNKNOWN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED', '57014', '57P01', '57P02', '57P05']);
const LOST_WORDS =
    /connection terminated|connection ended|connection timeout|timeout expired|timeout exceeded|not queryable|timeout acquiring|query (read )?timeout/i;

/** What an error of a statement means, by its SQLSTATE (PostgreSQL 18, appendix A), by Node's code, or by its words. */
export function failureOf(error: unknown): Failure {
    if (error instanceof WaitedTooLong || error instanceof BatchClosed) return 'unsent';
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (UNSENT.has(code)) return 'unsent';
    if (UNDONE.has(code)) return 'undone';
    if (UNKNOWN.has(code) || code.startsWith('08')) return 'unknown';
    return error instanceof Error && LOST_WORDS.test(error.message) ? 'unknown' : 'fault';
}

/** Whether an error says something about the link or the server, and nothing about the statement. */
export function isOutage(error: unknown): boolean {
    return failureOf(error) !== 'fault';
}

/**
 * Works until it is known whether the work was done, for `patienceMs` at the most; then it rejects with the last error.
 * `mayBeDone` tells the work that an earlier try may have been committed, so that it looks before it does anything.
 */
export async function persist<T>(patienceMs: number, work: (mayBeDone: boolean) => Promise<T>): Promise<T> {
    const end = performance.now() + patienceMs;
    let mayBeDone = false;
    for (let wait = 10; ; wait = Math.min(2 * wait, 200)) {
        try {
            return await work(mayBeDone);
        } catch (error) {
            const failure = failureOf(error);
            // An earlier try that is still committing shows itself as a duplicate.
            const isDuplicate = mayBeDone && error instanceof Error && 'code' in error && error.code === '23505';
            if ((failure === 'fault' && !isDuplicate) || performance.now() + wait > end) throw error;
            mayBeDone ||= failure === 'unknown';
        }
        await pause(wait);
    }
}
