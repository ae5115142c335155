import type { Plan, RateWindow } from '../accounts/plans.ts';

/** The limits of jobs (docs/jobs.md, "Jobs"). Times are seconds unless the name says otherwise. */

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

export type OwnWindow = 'jobs' | 'batches' | 'reads' | 'changes';

/** Rate limits of an account beside those of fetches. `changes` bounds the rows of audit logs. */
export const OWN_WINDOWS: Readonly<Record<OwnWindow, RateWindow>> = {
    jobs: { name: 'minute', limit: 600, seconds: 60 },
    batches: { name: 'hour', limit: 60, seconds: 3600 },
    reads: { name: 'minute', limit: 1200, seconds: 60 },
    changes: { name: 'hour', limit: 1200, seconds: 3600 },
};
/** Maximum number of an account's reads that wait for a job or batch in one process. Further reads are answered immediately. */
export const WAITING_READS = 50;
/** Maximum time that a read may wait for a job or batch. */
export const LONGEST_WAIT = 30;

/** A number of jobs, and the size of their params; in `ORDER_BOUNDS` also of their metadata. */
export interface JobBounds {
    items: number;
    bytes: number;
}

const MAX_OPEN: JobBounds = { items: 1_000_000, bytes: 4 * GIB };

/** Limits of an account's open jobs, queued and running. */
export const OPEN_BOUNDS: Readonly<Record<Plan, JobBounds>> = {
    free: { items: 10_000, bytes: 64 * MIB },
    starter: { items: 200_000, bytes: GIB },
    pro: MAX_OPEN,
    enterprise: MAX_OPEN,
};
/** Retry-After if too many jobs are open. */
export const OPEN_RETRY = 60;

const MAX_ORDERED: JobBounds = { items: 10_000_000, bytes: 40 * GIB };

/** Limits of the jobs that an account creates on one day (UTC). Cancelled jobs stay stored, and do not count as open. */
export const ORDER_BOUNDS: Readonly<Record<Plan, JobBounds>> = {
    free: { items: 40_000, bytes: 256 * MIB },
    starter: { items: 2_000_000, bytes: 10 * GIB },
    pro: MAX_ORDERED,
    enterprise: MAX_ORDERED,
};

/** Maximum size of the stored results of an account, in bytes. */
export const STORED_RESULT_BYTES: Readonly<Record<Plan, number>> = { free: GIB, starter: 10 * GIB, pro: 10 * GIB, enterprise: 10 * GIB };
export const MAX_RESULT_BYTES = 5 * MIB;

export const OPEN_BATCHES = 20;

/** `expires_in`: how long a job or a batch may wait. */
export const EXPIRY = { min: 60, max: 86_400, fallback: 3600 } as const;
export const BATCH_EXPIRY = { min: 60, max: 2_592_000, fallback: 604_800 } as const;

/** Limits of batch bodies: items and bytes as JSON and as ndjson, and bytes of one line. */
export const BATCH_BODIES = {
    json: { items: 10_000, bytes: 8 * MIB },
    lines: { items: 100_000, bytes: 64 * MIB, line: 256 * 1024 },
} as const;
/** Maximum pause within a batch body, and its maximum duration, in milliseconds. */
export const BATCH_ARRIVAL_MS = { pause: 15_000, all: 600_000 } as const;

export const RESULTS_PAGE = { max: 1000, fallback: 20 } as const;

/** This fraction (1/n) of each rate limit is reserved for live calls. */
const LIVE_SHARE = 5;

/** The number of calls of a rate limit that jobs may use. */
export function jobsOfWindow(limit: number): number {
    return limit - Math.floor(limit / LIVE_SHARE);
}

/** Maximum number of concurrent jobs of an account: all of its slots except one. */
export function jobSlotsOf(concurrency: number): number {
    return Math.max(1, concurrency - 1);
}

/** Slots of a site that jobs may use: three quarters of the site's share, or the whole share if it is one. */
export function jobShareOf(share: number): number {
    return Math.max(1, Math.floor((share * 3) / 4));
}
