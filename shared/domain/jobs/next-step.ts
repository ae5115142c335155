import type { Effect } from '../types.ts';

/** Seconds before each further attempt of a read, as they are where the site names no time. */
export const PAUSES: readonly number[] = [10, 60, 300];
/** Codes that say nothing of the call: it waits on and no attempt is counted. Seconds until the next look. */
const WAITS: Readonly<Record<string, number>> = { SITE_UNAVAILABLE: 5, SITE_BUSY: 1, OVERLOADED: 5, SERVICE_UNAVAILABLE: 5 };
/** How much a pause may differ, so that jobs that failed together do not come again together. */
const SPREAD = 0.1;

/** How an attempt failed. */
export interface FailedAttempt {
    code: string;
    retryable: boolean;
    /** Seconds that the site asks to wait. */
    retryAfter?: number | undefined;
    effect: Effect;
    /** A write that may have been sent. */
    isFinal: boolean;
    /** Attempts before this one that failed. */
    failures: number;
}

/** What becomes of the job: it ends, or waits for so many milliseconds. */
export type NextStep = { step: 'end' } | { step: 'wait' | 'again'; afterMs: number };

/**
 * `wait`: nothing was tried. `again`: a read failed with a retryable code, at most three times. Otherwise it ends.
 * @param chance 0 to 1, spreads the pauses
 */
export function nextStep({ code, retryable, retryAfter, effect, isFinal, failures }: FailedAttempt, chance: number): NextStep {
    if (isFinal) return { step: 'end' };
    const wait = WAITS[code];
    if (wait !== undefined) return { step: 'wait', afterMs: (retryAfter ?? wait) * 1000 };
    const pause = PAUSES[failures];
    if (effect === 'write' || !retryable || pause === undefined) return { step: 'end' };
    if (retryAfter !== undefined) return { step: 'again', afterMs: retryAfter * 1000 };
    return { step: 'again', afterMs: Math.round(pause * 1000 * (1 - SPREAD + 2 * SPREAD * chance)) };
}
