import { type BatchRow, batchView } from '../../domain/jobs/batch-view.ts';
import type { BatchStatus, PausedReason } from '../../domain/jobs/states.ts';
import { columns, type Db, now } from '../../platform/db.ts';
import { recordEvent } from '../events/events.ts';

export const BATCH_ROW = columns(
    '',
    'batch_id number name metadata status paused_reason waiting_for created_at finished_at expires_at needs greatest_cost max_credits',
    'credits_used queued running succeeded failed cancelled expired',
);

/** Raw: the items to end. Items that a worker is about to start do not expire. */
const ENDING: Readonly<Record<'cancelled' | 'expired', string>> = {
    cancelled: "status = 'queued'",
    expired: "status = 'queued' and operation is null and expires_at <= app_now()",
};

/** Maximum items that one transaction ends. Running items that end meanwhile wait for it, and hold the lock of their account. */
const ENDED_AT_ONCE = 1000;

/** Ends the queued items of a batch, or those that have expired. An item that expires after a failure keeps that failure. */
export async function endQueuedItems(db: Db, batchId: string, status: 'cancelled' | 'expired'): Promise<void> {
    for (let after: number | null = 0; after !== null; ) after = await endSome(db, batchId, status, after);
}

/** Raw: locks items by id, then the batch, without reading them here. @returns the last item number considered; null: none left */
async function endSome(db: Db, batchId: string, status: 'cancelled' | 'expired', after: number): Promise<number | null> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: [{ looked: number; last: number | null }] }>(
            `with chosen as materialized (
                 select job_id, number from jobs where batch_id = :batchId and number > :after and ${ENDING[status]}
                 order by number limit ${ENDED_AT_ONCE}
             ), ending as materialized (
                 select job_id, number, row_number() over (order by number) as place
                 from (select job_id, number from jobs where job_id in (select job_id from chosen) and ${ENDING[status]}
                       order by job_id for update) locked
             ), reserved as (
                 update batches set ends = ends + (select count(*) from ending) where batch_id = :batchId
                 returning ends - (select count(*) from ending) as before
             ), ended as (
                 update jobs j
                 set status = case when :status = 'expired' and j.attempts > 0 then 'failed' else :status end,
                     code = case when :status = 'expired' then j.code end, error = case when :status = 'expired' then j.error end,
                     operation = null, lease_until = null, waiting_for = null, finished_at = app_now(), end_number = r.before + e.place
                 from ending e cross join reserved r
                 where j.job_id = e.job_id
             )
             select cast(count(*) as integer) as looked, cast(max(number) as float8) as last from chosen`,
            { batchId, status, after },
        );
        const [{ looked, last }] = rows;
        // Pauses only after the last items, which may end the batch instead.
        await closeBatch(trx, batchId, looked < ENDED_AT_ONCE);
        return last;
    });
}

/** What decides about the end of a batch. */
type BatchNow = BatchRow & { failures: number; stopAfterFailures: number | null };

/** Ends a batch without open items, and pauses a batch with too many failures if `mayPause`. Call it after items have ended. */
export async function closeBatch(trx: Db, batchId: string, mayPause = true): Promise<void> {
    const batch: BatchNow | undefined = await trx('batches')
        .where({ batch_id: batchId, finished_at: null })
        .forUpdate()
        .first({ ...BATCH_ROW, failures: 'failures', stopAfterFailures: 'stop_after_failures' });
    if (batch === undefined) return;
    if (batch.queued + batch.running === 0) {
        const ended = { status: endOf(batch), paused_reason: null, waiting_for: null, finished_at: now(trx) };
        await changeStatus(trx, batchId, 'batch.finished', ended);
    } else if (mayPause && batch.status === 'running' && batch.failures >= (batch.stopAfterFailures ?? Number.POSITIVE_INFINITY)) {
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

function endOf({ status, failed, cancelled, expired }: BatchRow): BatchStatus {
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
