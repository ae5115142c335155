const MINUTE = 60;
const HOUR = 3600;

/** How long after each failed attempt of a delivery the next one is due, in seconds. Ten attempts in all, over three days. */
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

/** A wait is longer or shorter by up to this part of it, so that what failed together does not come again together. */
const JITTER = 0.1;

/**
 * Seconds until the next attempt of a delivery; undefined where the last attempt was its last.
 * @param attempts that failed so far, at least 1
 * @param random from 0 to 1
 */
export function retryAfter(attempts: number, random: number): number | undefined {
    const wait = RETRY_SECONDS[attempts - 1];
    return wait === undefined ? undefined : wait * (1 + JITTER * (2 * random - 1));
}

/** A webhook is disabled when its attempts failed for this long without a success, and were so many at least. */
export const FAILING_DAYS = 5;
export const FEWEST_FAILURES = 10;
/** Its owners are warned after so long. */
export const WARN_DAYS = 1;
