import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';

// Every grace period and margin around the deadline of a fetch, in milliseconds. A worker may report until 200 ms after the deadline.

/** A lease outlives the deadline by this time. It frees the slot of a process that died. */
export const LEASE_GRACE_MS = 5000;
/** A hold outlives the deadline by this time, so that the last report can still be charged. */
export const HOLD_GRACE_MS = 1000;
/** The probe of an open circuit may report until this long after its deadline. */
export const PROBE_GRACE_MS = 1000;
/** This long after the deadline, the hold, verdict and sweep of a fetch have ended, even if its process died. */
export const SETTLED_GRACE_MS = 3000;
/** The caller receives an answer at most this long after the deadline (docs/goals.md, R1). */
export const LATE_MS = 250;
/** Minimum timeout of a release. The release decides how a write ended, and usually takes a few milliseconds. */
export const VERDICT_MS = 300;

/** When a fetch arrived and when it must be answered. */
export interface Times {
    /** When the handler began, by the monotonic clock. */
    began: number;
    /** When the handler began, in ms since the epoch. */
    admittedAt: number;
    /** When the request arrived, before its body was read and its key was looked up; in ms since the epoch. */
    arrivedAt: number;
    /** In ms since the epoch. */
    deadlineAt: number;
}

/** The times of a fetch. The timeout starts when the request arrives. @param startedAt when it arrived, by the monotonic clock */
export function timesOf({ config }: App, { timeout_ms: timeoutMs = config.fetchTimeoutMs }: FetchRequest, startedAt: number): Times {
    const began = performance.now();
    const admittedAt = Date.now();
    const arrivedAt = admittedAt - Math.round(began - startedAt);
    return { began, admittedAt, arrivedAt, deadlineAt: arrivedAt + timeoutMs };
}

/** The time before the deadline that is reserved for the charge, in milliseconds. At most half of the remaining time. */
export function chargeTime(app: App, deadlineAt: number): number {
    return Math.round(Math.max(0, Math.min(app.credits.settlingMs() - LATE_MS, (deadlineAt - Date.now()) / 2)));
}
