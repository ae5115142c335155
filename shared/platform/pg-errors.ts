import { setTimeout as pause } from 'node:timers/promises';
import { BatchClosed, WaitedTooLong } from './batch.ts';
import { codeOfError } from './error-code.ts';

/**
 * The effect of a failed statement. `unsent`: it never reached the database, or the server refused it. `unknown`: it may have been
 * committed, but its answer was lost. `undone`: it was rolled back because of another transaction. `fault`: the statement itself is wrong.
 */
type Failure = 'unsent' | 'unknown' | 'undone' | 'fault';

const UNSENT = new Set([
    ...['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', '57P03', '53300'],
    // The server rejects all connections, because the database was closed or replaced or the password changed.
    ...['55000', '3D000', '28000', '28P01'],
    // The server has no disk or memory left, a broken disk, or takes no writes: the statement was rolled back.
    ...['53100', '53200', '58030', '25006'],
]);
/** Node's codes for a certificate that it does not accept, and what `pg` says of a server without TLS. */
const REFUSED_CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/;
const NO_TLS = /server does not support SSL|establishing an SSL connection/;
const UNDONE = new Set(['40001', '40P01', '55P03']);
const UNKNOWN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED', '57014', '57P01', '57P02', '57P05']);
const LOST_WORDS =
    /connection terminated|connection ended|connection timeout|timeout expired|timeout exceeded|not queryable|timeout acquiring|query (read )?timeout/i;

/** Classifies an error by its SQLSTATE (PostgreSQL 18, appendix A), Node's code, or its message. */
export function failureOf(error: unknown): Failure {
    if (error instanceof WaitedTooLong || error instanceof BatchClosed) return 'unsent';
    const code = codeOfError(error);
    if (UNSENT.has(code) || REFUSED_CERTIFICATE.test(code) || NO_TLS.test(messageOf(error))) return 'unsent';
    if (UNDONE.has(code)) return 'undone';
    if (UNKNOWN.has(code) || code.startsWith('08') || endedConnection(error)) return 'unknown';
    return LOST_WORDS.test(messageOf(error)) ? 'unknown' : 'fault';
}

/** Whether the server ended the connection, or refused it, such as for a setting in the URL that it does not know. */
function endedConnection(error: unknown): boolean {
    return error instanceof Error && 'severity' in error && (error.severity === 'FATAL' || error.severity === 'PANIC');
}

function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : '';
}

/** Codes of a server that takes no writes: its disk or memory is full, its disk is broken, or it is a standby. */
const NO_WRITES = ['53100', '53200', '58030', '25006'] as const;
/** Codes that are the operator's to repair, not a caller's: those, no right, damaged data. */
export const SERVER_FAULTS = [...NO_WRITES, '42501', 'XX001', 'XX002'] as const;
type ServerFault = (typeof SERVER_FAULTS)[number];

export function isServerFault(code: string): code is ServerFault {
    return (SERVER_FAULTS as readonly string[]).includes(code);
}

export function refusesWrites(code: string): boolean {
    return (NO_WRITES as readonly string[]).includes(code);
}

/** Whether an error was caused by the connection or the server, not by the statement. */
export function isOutage(error: unknown): boolean {
    return failureOf(error) !== 'fault';
}

/** Whether a row with the same unique value exists. */
export function isDuplicate(error: unknown): boolean {
    return codeOfError(error) === '23505';
}

/** PostgreSQL's codes for "no such table", "no such function" and "no such column". */
const UNKNOWN_NAMES = new Set(['42P01', '42883', '42703']);

/** Whether a statement names what the database does not have. */
export function isUnknownName(error: unknown): boolean {
    return UNKNOWN_NAMES.has(codeOfError(error));
}

/**
 * Retries work until its result is known, for at most `patienceMs`. Then it rejects with the last error. `mayBeDone` means that an earlier
 * attempt may have been committed, so the work must check first.
 */
export async function retryUntilKnown<T>(patienceMs: number, work: (mayBeDone: boolean) => Promise<T>): Promise<T> {
    let mayBeDone = false;
    return retryWhile(
        patienceMs,
        () => work(mayBeDone),
        (error) => {
            const failure = failureOf(error);
            // An earlier attempt that is still committing appears as a duplicate.
            const isKnown = failure !== 'fault' || (mayBeDone && isDuplicate(error));
            mayBeDone ||= failure === 'unknown';
            return isKnown;
        },
    );
}

/** Maximum time for retries. No caller waits longer for the database. */
const PATIENCE_MS = 1000;

/** Retries a transaction while other transactions cause its rollback, for at most a second. Then it rejects with the last error. */
export async function retryRolledBack<T>(work: () => Promise<T>): Promise<T> {
    return retryWhile(PATIENCE_MS, work, (error) => failureOf(error) === 'undone');
}

async function retryWhile<T>(patienceMs: number, work: () => Promise<T>, mayRetry: (error: unknown) => boolean): Promise<T> {
    const end = performance.now() + patienceMs;
    for (let wait = 10; ; wait = Math.min(2 * wait, 200)) {
        try {
            return await work();
        } catch (error) {
            if (!mayRetry(error) || performance.now() + wait > end) throw error;
        }
        await pause(wait);
    }
}
