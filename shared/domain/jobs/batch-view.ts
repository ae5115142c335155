import type { Effect } from '../types.ts';
import type { BatchStatus, PausedReason, WaitingFor } from './states.ts';

export interface BatchRow {
    batchId: string;
    /** Increases with the time of creation. */
    number: number;
    name: string | null;
    /** JSON text. */
    metadata: string;
    status: BatchStatus;
    pausedReason: PausedReason | null;
    waitingFor: WaitingFor | null;
    createdAt: Date;
    finishedAt: Date | null;
    expiresAt: Date;
    /** The effect that a key must allow to see the batch. */
    needs: Effect;
    greatestCost: number;
    maxCredits: number | null;
    creditsUsed: number;
    queued: number;
    running: number;
    succeeded: number;
    failed: number;
    cancelled: number;
    expired: number;
}

/** A batch in the form of the API and of events. @param etaSeconds seconds until its end, while it runs */
export function batchView(row: BatchRow, etaSeconds: number | null) {
    const { queued, running, succeeded, failed, cancelled, expired } = row;
    const total = queued + running + succeeded + failed + cancelled + expired;
    return {
        batch_id: row.batchId,
        name: row.name,
        status: row.status,
        counts: { total, queued, running, succeeded, failed, cancelled, expired },
        credits: { used: row.creditsUsed, max: row.maxCredits ?? row.greatestCost },
        waiting_for: row.status === 'running' && queued > 0 ? row.waitingFor : null,
        paused_reason: row.pausedReason,
        created_at: row.createdAt.toISOString(),
        finished_at: row.finishedAt?.toISOString() ?? null,
        expires_at: row.expiresAt.toISOString(),
        metadata: JSON.parse(row.metadata) as Record<string, string>,
        eta_seconds: row.status === 'running' ? etaSeconds : null,
    };
}
