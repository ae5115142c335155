import type { Plan, RateWindow } from '../accounts/plans.ts';

/** Every bound of monitors (docs/jobs.md, "Monitors"). Times are seconds unless the name says otherwise. */

const MINUTE = 60;
const HOUR = 3600;
export const DAY = 86_400;

/** Monitors that an account has at most. */
export const MOST_MONITORS: Readonly<Record<Plan, number>> = { free: 3, starter: 25, pro: 250, enterprise: 250 };
/** The shortest time between two runs that a schedule may ask for. */
export const SHORTEST: Readonly<Record<Plan, number>> = {
    free: HOUR,
    starter: 5 * MINUTE,
    pro: 5 * MINUTE,
    enterprise: 5 * MINUTE,
};
/** The bounds of `every` on any plan. */
export const EVERY = { least: 5 * MINUTE, most: 30 * DAY } as const;

/** Runs of one monitor by hand. */
export const RUNS_BY_HAND: RateWindow = { name: 'hour', limit: 10, seconds: HOUR };

/** The longest wait of a run for its turn; less where the schedule asks for runs more often. */
export const LONGEST_TURN = HOUR;

/** Failures in a row after which people are told, and the interval doubles with each further one, up to a day. */
export const FAILING = 10;

/** Bytes of a watched value as JSON. */
export const VALUE_BYTES = 1024 * 1024;
/** What one diff tells at most. */
export const DIFF_ENTRIES = 1000;
export const DIFF_BYTES = 256 * 1024;

/** Changes and runs of one monitor that are kept. */
export const KEPT_CHANGES = 100;
export const KEPT_RUNS = 100;
/** Watched values that are kept: the two latest. */
export const KEPT_VALUES = 2;
