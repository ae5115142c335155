export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Why queued jobs do not begin. */
export const WAITING_FOR = ['credits', 'limits', 'site', 'storage'] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

export function hasJobEnded(status: JobStatus): boolean {
    return status !== 'queued' && status !== 'running';
}
