import type { AnswerTime, Behaviour } from './behaviour.ts';
import type { Effect, Ran } from './hostile-sites.ts';

/** How late a response may come, in milliseconds. */
export interface Patience {
    /** For a read with all its attempts, on a busy machine. */
    atOnce: number;
    afterDeadline: number;
    afterCap: number;
}

/** The caller's deadline: short if it is waited for, long if a hang must be noticed. */
export function timeoutOf(time: AnswerTime): number {
    return time === 'at the deadline' ? 1500 : 30_000;
}

/** What is wrong with an outcome, as sentences; empty if it matches the table. */
export function faultsOf(behaviour: Behaviour, effect: Effect, ran: Ran, before: { credits: number }, patience: Patience): string[] {
    const expected = behaviour[effect];
    const isSuccess = expected.code === 'success';
    const billed = isSuccess ? 1 : 0;
    const faults: string[] = [];
    const check = (what: string, is: unknown, should: unknown) => {
        if (is !== should) faults.push(`${effect}: ${what} is ${is} and should be ${should}`);
    };
    check('the code', ran.code, expected.code);
    check('the number of requests', ran.requests, expected.requests);
    check('credits_used', ran.creditsUsed, billed);
    check('credits_remaining', ran.creditsRemaining, before.credits - billed);
    if (effect === 'write' && ran.requests > 0 && !isSuccess) check('retryable of a write that was sent', ran.retryable, false);
    return [...faults, ...lateness(expected.time, ran, patience).map((late) => `${effect}: ${late}`)];
}

function lateness(time: AnswerTime, { elapsedMs, pastCap }: Ran, patience: Patience): string[] {
    const [least, most] = boundsOf(time, patience);
    const faults: string[] = [];
    if (elapsedMs < least) faults.push(`the answer came after ${elapsedMs} ms, which is too soon for ${least}`);
    if (elapsedMs > most) faults.push(`the answer came after ${elapsedMs} ms, which is too late for ${most}`);
    if (time !== 'at the cap') return faults;
    if (pastCap === undefined) return [...faults, 'the cap was never passed'];
    const { answeredMs, closedMs } = pastCap;
    if (answeredMs > patience.afterCap) faults.push(`the answer came ${answeredMs} ms after the cap`);
    if (closedMs !== undefined && closedMs > patience.afterCap) faults.push(`the connection was closed ${closedMs} ms after the cap`);
    return faults;
}

/** Clock differences of two processes, and a timer's rounding. */
const EARLY = 25;

function boundsOf(time: AnswerTime, { atOnce, afterDeadline, afterCap }: Patience): [least: number, most: number] {
    if (time === 'at the deadline') return [timeoutOf(time) - EARLY, timeoutOf(time) + afterDeadline];
    if (time === 'at once') return [0, atOnce];
    if (time === 'at the cap') return [0, atOnce + afterCap];
    return [time.afterMs - EARLY, time.afterMs + atOnce];
}
