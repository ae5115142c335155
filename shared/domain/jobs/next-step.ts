import type { Effect } from '../types.ts';

/** Seconds before each retry of a read, unless the site names a time. */
const PAUSES: readonly number[] = [10, 60, 300];
/** Codes that are not caused by the call. The job keeps waiting and no attempt is counted. Values: seconds until the next attempt. */
const WAITS: Readonly<Record<string, number>> = { SITE_UNAVAILABLE: 5, SITE_BUSY: 1, OVERLOADED: 5, SERVICE_UNAVAILABLE: 5 };
/** Pauses vary randomly by this fraction, so that jobs that failed together are not retried together. */
const SPREAD = 0.1;

interface FailedAttempt {
    code: string;
    retryable: boolean;
    /** Seconds that the site asks callers to wait. */
    retryAfter?: number | undefined;
    effect: Effect;
    /** A write that may have been sent. */
    isFinal: boolean;
    /** Number of earlier failed attempts. */
    failures: number;
}

/** The next state of the job: it ends, or waits for `afterMs` milliseconds. */
type NextStep = { step: 'end' } | { step: 'wait' | 'again'; afterMs: number };

/** `wait`: nothing was tried. `again`: a read, at most three times. @param chance a random number from 0 to 1, varies the pause */
export function nextStep({ code, retryable, retryAfter, effect, isFinal, failures }: FailedAttempt, chance: number): NextStep {
    if (isFinal) return { step: 'end' };
    const wait = WAITS[code];
    if (wait !== undefined) return { step: 'wait', afterMs: (retryAfter ?? wait) * 1000 };
    const pause = PAUSES[failures];
    if (effect === 'write' || !retryable || pause === undefined) return { step: 'end' };
    if (retryAfter !== undefined) return { step: 'again', afterMs: retryAfter * 1000 };
    return { step: 'again', afterMs: Math.round(pause * 1000 * (1 - SPREAD + 2 * SPREAD * chance)) };
}
