import type { Plan, RateWindow } from '../accounts/plans.ts';

/** The limits of monitors (docs/jobs.md, "Monitors"). Times are seconds unless the name says otherwise. */

const MINUTE = 60;
const HOUR = 3600;
export const DAY = 86_400;

/** Maximum number of monitors of a user on Free, with those of others that the user changed or ran. The plan limits only new and running ones. */
export const MAX_OF_FREE_USER = 50;

/** The shortest interval between two runs of a schedule. */
export const MIN_INTERVAL: Readonly<Record<Plan, number>> = {
    free: HOUR,
    starter: 5 * MINUTE,
    pro: 5 * MINUTE,
    enterprise: 5 * MINUTE,
};
/** The limits of `every` on any plan. */
export const EVERY = { min: 5 * MINUTE, max: 30 * DAY } as const;

/** Rate limit for manual runs of one monitor. */
export const RUNS_BY_HAND: RateWindow = { name: 'hour', limit: 10, seconds: HOUR };

/** How long a run may wait to start; less if the schedule runs more often. */
export const MAX_TURN = HOUR;

/** The consecutive failure that notifies people. From it on, each failure doubles the interval, up to a day. */
export const FAILING = 10;

/** Maximum size of a watched value as JSON, in bytes. */
export const VALUE_BYTES = 1024 * 1024;
/** Maximum number of entries of one diff, and its maximum size. */
export const DIFF_ENTRIES = 1000;
export const DIFF_BYTES = 256 * 1024;

export const KEPT_CHANGES = 100;
export const KEPT_RUNS = 100;
/** Number of latest watched values that are kept. */
export const KEPT_VALUES = 2;
