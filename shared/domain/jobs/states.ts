export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const BATCH_STATUSES = ['running', 'paused', 'cancelling', 'succeeded', 'finished', 'cancelled', 'expired'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Why a batch is paused: by its caller, by its limit of credits or failures, or because its key is no longer active. */
export const PAUSED_REASONS = ['caller', 'max_credits', 'failures', 'key'] as const;
export type PausedReason = (typeof PAUSED_REASONS)[number];

/** Why queued jobs do not start. `operator`: an operator paused jobs of the account or the site. */
export const WAITING_FOR = ['credits', 'limits', 'site', 'storage', 'operator'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

export function hasJobEnded(status: JobStatus): boolean {
    return status !== 'queued' && status !== 'running';
}
