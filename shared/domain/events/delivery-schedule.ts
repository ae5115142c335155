/** `failed`: the last attempt failed. `stopped`: its webhook was disabled before it arrived. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'stopped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const MINUTE = 60;
const HOUR = 3600;

/** Seconds from each failed attempt of a delivery to the next one: ten attempts in three days. */
export const RETRY_SECONDS: readonly number[] = [
    5,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];

/** Each delay varies randomly by up to this fraction, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/** Seconds until the next attempt; undefined if none is left. @param attempts failed so far, at least 1 @param random 0 to 1 */
export function retryAfter(attempts: number, random: number): number | undefined {
    const wait = RETRY_SECONDS[attempts - 1];
    return wait === undefined ? undefined : wait * (1 + JITTER * (2 * random - 1));
}

/** A webhook is disabled after this many days without a success and at least this many failed attempts. */
export const FAILING_DAYS = 5;
export const MIN_FAILURES = 10;
/** Owners are warned after this many days. */
export const WARN_DAYS = 1;
