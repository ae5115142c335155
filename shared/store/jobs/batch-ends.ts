import { type BatchRow, batchView } from '../../domain/jobs/batch-view.ts';
import type { BatchStatus, PausedReason } from '../../domain/jobs/states.ts';
import { columns, type Db } from '../../platform/db.ts';
import { recordEvent } from '../events/events.ts';

/** The columns of a `BatchRow`. */
export const BATCH_ROW = columns(
    '',
    'batch_id',
    'number',
    'name',
    'metadata',
    'status',
    'paused_reason',
    'waiting_for',
    'created_at',
    'finished_at',
    'expires_at',
    'needs',
    'greatest_cost',
    'max_credits',
    'credits_used',
    'queued',
    'running',
    'succeeded',
    'failed',
    'cancelled',
    'expired',
);

/** Raw: the items to end. Items that a worker is about to start do not expire. */
const ENDING: Readonly<Record<'cancelled' | 'expired', string>> = {
    cancelled: "status = 'queued'",
    expired: "status = 'queued' and operation is null and expires_at <= app_now()",
};

/**
 * Ends the queued items of a batch, or those that have expired. An item that expires after a failure keeps that failure. Raw: a single
 * statement, because a batch may have more items than fit into the memory of this process. It locks the items in the order of their ids,
 * then the batch.
 */
export async function endQueuedItems(trx: Db, batchId: string, status: 'cancelled' | 'expired'): Promise<void> {
    await trx.raw(
        `with ending as materialized (
             select job_id, row_number() over (order by number) as place
             from (select job_id, number from jobs where batch_id = :batchId and ${ENDING[status]} order by job_id for update) locked
         ), reserved as (
             update batches set ends = ends + (select count(*) from ending) where batch_id = :batchId
             returning ends - (select count(*) from ending) as before
         )
         update jobs j
         set status = case when :status = 'expired' and j.attempts > 0 then 'failed' else :status end,
             code = case when :status = 'expired' then j.code end, error = case when :status = 'expired' then j.error end,
             operation = null, lease_until = null, waiting_for = null, finished_at = app_now(), end_number = r.before + e.place
         from ending e cross join reserved r
         where j.job_id = e.job_id`,
        { batchId, status },
    );
    await closeBatch(trx, batchId);
}

interface BatchNow {
    status: BatchStatus;
    stop_after_failures: number | null;
    failures: number;
    queued: number;
    running: number;
    failed: number;
    cancelled: number;
    expired: number;
}

const BATCH_NOW = ['status', 'stop_after_failures', 'failures', 'queued', 'running', 'failed', 'cancelled', 'expired'] as const;

/** Ends a batch without open items, and pauses a batch with too many failures. Call it after items have ended. */
export async function closeBatch(trx: Db, batchId: string): Promise<void> {
    const batch: BatchNow | undefined = await trx('batches').where({ batch_id: batchId, finished_at: null }).forUpdate().first(BATCH_NOW);
    if (batch === undefined) return;
    if (batch.queued + batch.running === 0) {
        const ended = { status: endOf(batch), paused_reason: null, waiting_for: null, finished_at: trx.raw('app_now()') };
        await changeStatus(trx, batchId, 'batch.finished', ended);
    } else if (batch.status === 'running' && batch.stop_after_failures !== null && batch.failures >= batch.stop_after_failures) {
        await pause(trx, batchId, 'failures');
    }
}

/** Pauses a batch whose row is locked. */
export async function pause(trx: Db, batchId: string, reason: PausedReason): Promise<void> {
    await changeStatus(trx, batchId, 'batch.paused', { status: 'paused', paused_reason: reason, waiting_for: null });
}

export async function pauseRunning(db: Db, batchId: string, reason: PausedReason): Promise<void> {
    await db.transaction(async (trx) => {
        const batch = await trx('batches').where({ batch_id: batchId, status: 'running' }).forUpdate().first('batch_id');
        if (batch !== undefined) await pause(trx, batchId, reason);
    });
}

function endOf({ status, failed, cancelled, expired }: BatchNow): BatchStatus {
    if (status === 'cancelling') return 'cancelled';
    if (expired > 0) return 'expired';
    return failed + cancelled > 0 ? 'finished' : 'succeeded';
}

async function changeStatus(
    trx: Db,
    batchId: string,
    type: 'batch.finished' | 'batch.paused',
    fields: { status: BatchStatus } & Record<string, unknown>,
): Promise<void> {
    await trx('batches').where({ batch_id: batchId }).update(fields);
    const batch: (BatchRow & { workspaceId: string }) | undefined = await trx('batches')
        .where({ batch_id: batchId })
        .first({ ...BATCH_ROW, workspaceId: 'workspace_id' });
    if (batch === undefined) return;
    await recordEvent(trx, { type, workspaceId: batch.workspaceId, data: batchView(batch, null), about: batchId });
}
