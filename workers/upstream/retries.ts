import type { Fault } from './failures.ts';

/** Retries of a read (docs/api.md, "Hosted fetch"). */
const MAX_RETRIES = 2;

const RETRIED_STATUS = new Set([429, 502, 503, 504]);

/** Pauses before the first and second retry without Retry-After, in milliseconds. Random jitter shortens each by up to half. */
const BACKOFF = [100, 400];

export function isRetriedStatus(status: number): boolean {
    return RETRIED_STATUS.has(status);
}

/**
 * Milliseconds before the next try. `undefined` if there is none: no retries are left, the fault is not transient, or the pause ends
 * after the deadline.
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

/** A number of seconds, as some servers write it with a fraction or a unit. */
const SECONDS = /^(\d{1,10}(?:\.\d{1,9})?)\s?(?:s|secs?|seconds?)?$/i;

/** A date in one of the three formats of HTTP, or in ISO 8601. */
const DATE = /GMT$|^\d{4}-\d\d-\d\dT/;
const DATE_OF_C = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/;

/** Whole seconds of a Retry-After header (a number or a date), 0 to 86400; undefined if it is invalid. @param now epoch ms */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
    if (header === undefined) return undefined;
    const text = header.trim();
    const date = DATE_OF_C.test(text) ? `${text} GMT` : DATE.test(text) ? text : '';
    const seconds = Number(SECONDS.exec(text)?.[1] ?? (Date.parse(date) - now) / 1000);
    return Number.isNaN(seconds) ? undefined : Math.min(86_400, Math.max(0, Math.ceil(seconds)));
}
