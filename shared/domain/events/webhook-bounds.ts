import type { RateWindow } from '../accounts/plans.ts';

/** The limits of webhooks (docs/jobs.md, "Webhooks"). The times of attempts are in delivery-schedule.ts. */

/** Webhooks of one workspace. */
export const MOST_WEBHOOKS = 20;
/** Types and prefixes of one webhook. */
export const MOST_EVENTS = 50;
/** Test events and redeliveries of one webhook, together. */
export const TEST_WINDOW: RateWindow = { name: 'minute', limit: 10, seconds: 60 };
/** A webhook with more waiting deliveries is disabled. */
export const MOST_WAITING = 100_000;
/** Days for which deliveries are kept. */
export const DELIVERY_DAYS = 14;

/** Concurrent requests to one webhook, and to one host over all accounts. */
export const AT_ONCE = { webhook: 4, host: 32 } as const;
/**
 * Webhooks that do not deliver: their URL never answered 2xx, or their last `failures` attempts failed. Those of one host that have
 * failed share `atOnce` requests. After each failure all of the host wait for `pauseMs`.
 */
export const UNPROVEN = { failures: 10, atOnce: 4, pauseMs: 1000 } as const;
/** How long a receiver may take to answer, in milliseconds. */
export const ANSWER_MS = 10_000;
/** Bytes of an answer that are kept. */
export const KEPT_ANSWER_BYTES = 1024;
/** The largest job result that an event contains, in bytes. For a larger one it has `result_url`. */
export const MOST_RESULT_BYTES = 256 * 1024;
