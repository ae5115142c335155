export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const BATCH_STATUSES = ['running', 'paused', 'cancelling', 'succeeded', 'finished', 'cancelled', 'expired'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Why a batch is paused: its caller wished it, its own limit of credits or of failures is reached, or its key is gone. */
export const PAUSED_REASONS = ['caller', 'max_credits', 'failures', 'key'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

/** Why queued jobs do not begin. `operator`: jobs of the account or of the site are paused. */
export const WAITING_FOR = ['credits', 'limits', 'site', 'storage', 'operator'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

export function hasJobEnded(status: JobStatus): boolean {
    return status !== 'queued' && status !== 'running';
}
