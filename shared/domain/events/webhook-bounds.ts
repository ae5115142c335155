import type { RateWindow } from '../accounts/plans.ts';

/** The limits of webhooks (docs/jobs.md, "Webhooks"). The times of attempts are in delivery-schedule.ts. */

export const MAX_WEBHOOKS = 20;
export const MAX_EVENTS = 50;
/** Rate limit for test events and redeliveries of one webhook together. */
export const TEST_WINDOW: RateWindow = { name: 'minute', limit: 10, seconds: 60 };
/** A webhook with more waiting deliveries is disabled. */
export const MAX_WAITING = 100_000;
/** Number of days for which deliveries are kept. */
export const DELIVERY_DAYS = 14;

/** Maximum number of concurrent requests to one webhook, and to one host over all accounts. */
export const AT_ONCE = { webhook: 4, host: 32 } as const;
/** Of webhooks that never delivered or failed `failures` times: those of a host share `atOnce` requests, and pause after a failure. */
export const UNPROVEN = { failures: 10, atOnce: 4, pauseMs: 1000 } as const;
/**
 * Deliveries of a worker for a free account to one registrable domain, over all its webhooks and the hosts of the domain. Creating and
 * cancelling a job costs nothing and is sent to each of 20 webhooks: without this limit, each request of a free account could make us send
 * ten to its receivers.
 */
export const FREE_PACE: RateWindow = { name: 'minute', limit: 120, seconds: 60 };
/** Maximum number of concurrent requests of a worker for one free account, over all its webhooks. */
export const FREE_AT_ONCE = 32;
/** Timeout for the answer of a receiver, in milliseconds. */
export const ANSWER_MS = 10_000;
export const KEPT_ANSWER_BYTES = 1024;
/** Maximum size of a job result in an event, in bytes. For a larger result, the event contains `result_url`. */
export const MAX_INCLUDED_BYTES = 256 * 1024;
