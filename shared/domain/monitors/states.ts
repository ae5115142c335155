/** `failing`: ten or more runs in a row failed; it goes on, more seldom. */
export const MONITOR_STATUSES = ['active', 'paused', 'failing'] as const;
export type MonitorStatus = (typeof MONITOR_STATUSES)[number];

/** Why a monitor was paused, where nobody did it by hand. */
export const PAUSED_REASONS = ['key', 'site_blocked', 'yanked', 'plan'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

export const RUN_STATUSES = ['running', 'succeeded', 'failed', 'skipped'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Why a run was skipped: the last one had not ended, the day's credits could not pay for it, or its job was cancelled. */
export const SKIPPED_REASONS = ['unfinished', 'max_credits_per_day', 'cancelled'] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

/** When people are told: of each change, of each run, or where an expression over {before, after, diff} yields true. */
export type When = 'changed' | 'always' | { expression: string };
