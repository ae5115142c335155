/** `failing`: ten or more consecutive runs failed. The monitor continues at longer intervals. */
export const MONITOR_STATUSES = ['active', 'paused', 'failing'] as const;
export type MonitorStatus = (typeof MONITOR_STATUSES)[number];

/** Why a monitor was paused automatically. */
export const PAUSED_REASONS = ['key', 'site_blocked', 'yanked', 'plan'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

export const RUN_STATUSES = ['running', 'succeeded', 'failed', 'skipped'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Why a run was skipped: the previous run had not ended, it could exceed the day's credits, or its job was cancelled. */
export const SKIPPED_REASONS = ['unfinished', 'max_credits_per_day', 'cancelled'] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

/** When monitor.changed is sent: on each change, after each run, or when an expression over {before, after, diff} yields true. */
export type When = 'changed' | 'always' | { expression: string };
