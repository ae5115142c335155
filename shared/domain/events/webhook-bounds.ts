import type { RateWindow } from '../accounts/plans.ts';

/** Every bound of webhooks (docs/jobs.md, "Webhooks"), beside the times of attempts (delivery-schedule.ts). */

/** Webhooks of one workspace. */
export const MOST_WEBHOOKS = 20;
/** Types and prefixes that one webhook may name. */
export const MOST_EVENTS = 50;
/** Test events and orders to deliver again, together, of one webhook. */
export const TEST_WINDOW: RateWindow = { name: 'minute', limit: 10, seconds: 60 };
/** With more waiting deliveries a webhook is disabled. */
export const MOST_WAITING = 100_000;
/** For how many days deliveries are kept. */
export const DELIVERY_DAYS = 14;

/** Requests that run at once to one webhook, and to one host over all accounts. */
export const AT_ONCE = { webhook: 4, host: 32 } as const;
/** A receiver has so long to answer, in milliseconds. */
export const ANSWER_MS = 10_000;
/** Bytes of an answer that are kept. */
export const KEPT_ANSWER_BYTES = 1024;
/** Bytes of a job's result that an event carries; a longer one is named by `result_url`. */
export const MOST_RESULT_BYTES = 256 * 1024;
