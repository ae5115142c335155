import type { Fault } from './failures.ts';

/** Tries of a read beyond the first (CONTRACT 4). */
export const MAX_RETRIES = 2;

const RETRIED_STATUS = new Set([429, 502, 503, 504]);

/** Pauses before the first and the second retry without a Retry-After, in milliseconds; each is shortened by up to half at random. */
const BACKOFF = [100, 400];

/** Whether this status of a read is worth another try. */
export function isRetriedStatus(status: number): boolean {
    return RETRIED_STATUS.has(status);
}

/**
 * Milliseconds to wait before the next try, or `undefined` where there is none: the tries are used up, the fault would only repeat
 * itself, or the pause that the site asks for ends after the call does.
 * @param retry 1 for the first retry
 * @param left milliseconds to the deadline
 * @param random 0 to 1
 */
export function pauseBefore(retry: number, fault: Fault, left: number, random: number): number | undefined {
    const backoff = BACKOFF[retry - 1];
    if (retry > MAX_RETRIES || backoff === undefined || !fault.isTransient) return undefined;
    const pause = fault.retryAfter === undefined ? backoff * (1 - random / 2) : fault.retryAfter * 1000;
    return pause < left ? pause : undefined;
}

/**
 * Whole seconds that a Retry-After header asks for, as a number or an HTTP date, 0 to 86400; `undefined` where it says neither.
 * @param now milliseconds since the epoch
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
    if (header === undefined) return undefined;
    const text = header.trim();
    const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1000);
    if (Number.isNaN(seconds) || (!/^\d/.test(text) && !/GMT$/.test(text))) return undefined;
    return Math.min(86_400, Math.max(0, seconds));
}
