import type { Effect } from '../../domain/types.ts';
import { type Db, now } from '../../platform/db.ts';
import { endQueuedItems } from './batch-ends.ts';
import { lockClaimed } from './claims.ts';
import { endHolds, NO_HOLD } from './holds.ts';
import { lockJobAccounts } from './job-accounts.ts';
import {
    type AttemptEnd,
    type EndedAttempt,
    type EndingAttempt,
    type HoldEnd,
    type JobEnd,
    type LockedJob,
    lockedColumns,
    writeEnds,
} from './write-ends.ts';

/** Ends attempts with their holds and jobs in one transaction. All must be items of one batch, or there must be one single job. */
export async function endAttempts(db: Db, attempts: readonly EndingAttempt[]): Promise<EndedAttempt[]> {
    return db.transaction(async (trx) => {
        const rows: LockedJob[] = await lockClaimed(trx, attempts).select(lockedColumns(trx));
        const jobs = new Map(rows.filter(({ status }) => status === 'running').map((job) => [job.operation, job]));
        const holds = await endHolds(
            trx,
            attempts.flatMap(({ operation, charge }) => {
                const job = jobs.get(operation);
                return job === undefined ? [] : [{ ...job, charge }];
            }),
        );
        const ended: EndedAttempt[] = [];
        const ends: JobEnd[] = [];
        for (const { operation, decide } of attempts) {
            const job = jobs.get(operation);
            const hold = holds.get(operation) ?? NO_HOLD;
            const end = job && (await decide(hold));
            if (job !== undefined && end !== undefined) ends.push({ job, end, hold });
            ended.push(end && { end, hold });
        }
        await writeEnds(trx, ends);
        return ended;
    });
}

/** Ends a claimed job that has not started, because its key is no longer active or its call would be refused. */
export async function endUnstarted(
    db: Db,
    { jobId, operation }: { jobId: string; operation: string },
    end: AttemptEnd & { status: 'failed' | 'cancelled' },
): Promise<void> {
    await db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, operation, status: 'queued' });
        if (job !== undefined) await writeEnds(trx, [{ job, end }]);
    });
}

/** Ends a job with a stored result that the account has already paid for. Moves no credits. */
export async function endWithStored(
    db: Db,
    { jobId, operation }: { jobId: string; operation: string },
    { available, ...kept }: { result: Buffer; question: string | null; available: number },
): Promise<boolean> {
    return db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, operation, status: 'queued' });
        if (job === undefined) return false;
        const hold = { available, charged: 0, marked: false, won: true };
        await writeEnds(trx, [{ job, end: { status: 'succeeded', ...kept }, hold }]);
        return true;
    });
}

/** The result of cancelling a job. */
type Cancelled = 'cancelled' | 'not cancellable' | 'unknown';

/** Cancels an open job and releases its hold, unless it is a write that was marked as sent. */
export async function cancelJob(db: Db, workspaceId: string, jobId: string): Promise<Cancelled> {
    return db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, workspace_id: workspaceId });
        if (job === undefined) return 'unknown';
        if (job.status === 'cancelled') return 'cancelled';
        if (job.status !== 'queued' && job.status !== 'running') return 'not cancellable';
        if (job.status === 'running') {
            const hold = await trx('holds').where({ operation: job.hold }).forUpdate().first('sent_at');
            if (job.effect === 'write' && hold?.sent_at != null) return 'not cancellable';
            await endHolds(trx, [{ ...job, charge: null }]);
        }
        await writeEnds(trx, [{ job, end: { status: 'cancelled' } }]);
        return 'cancelled';
    });
}

/** A job whose worker died. */
export interface LostJob {
    jobId: string;
    effect: Effect;
    deaths: number;
}

/** Raw: whether a worker has lost a job. The order is that of the index of claimed jobs. */
export const JOB_IS_LOST = 'select true from jobs where operation is not null and lease_until <= fleet_now() order by number limit 1';

/**
 * Takes jobs back from dead workers. Jobs that had not started hold nothing, and wait again. For the others, `decide` returns what happens.
 * What they held is released, because a charge would already have ended them.
 * @returns the number of jobs that had started
 */
export async function reapJobs(db: Db, decide: (job: LostJob, hold: HoldEnd) => Promise<AttemptEnd>): Promise<number> {
    const lost = await db('jobs')
        .whereNotNull('operation')
        .where('lease_until', '<=', db.raw('fleet_now()'))
        // In the order of `jobs_leased`, so that a server without statistics reads this index and not all jobs.
        .orderBy('number')
        .limit(100)
        // A job that is locked for long must not keep the others from being taken back.
        .forUpdate()
        .skipLocked()
        .select<{ job_id: string; operation: string }[]>('job_id', 'operation');
    let begun = 0;
    for (const { job_id: jobId, operation } of lost) {
        await db.transaction(async (trx) => {
            const job = await lockJob(trx, { job_id: jobId, operation }, (jobs) =>
                jobs.where('lease_until', '<=', db.raw('fleet_now()')).skipLocked(),
            );
            if (job === undefined) return;
            if (job.status === 'queued') {
                await trx('jobs').where({ job_id: jobId }).update({ operation: null, lease_until: null });
                return;
            }
            begun += 1;
            const hold = (await endHolds(trx, [{ ...job, charge: null }])).get(operation) ?? NO_HOLD;
            const end = await decide({ jobId, effect: job.effect, deaths: job.deaths }, hold);
            await writeEnds(trx, [{ job, end, hold }]);
        });
    }
    return begun;
}

/** Raw: whether a job or a batch with queued items expires. The condition on the number selects the index (migrations/330_jobs.ts). */
export const JOB_EXPIRES = `select true where
    (select true from batches where finished_at is null and expires_at <= app_now() and queued > 0 order by account_id limit 1)
    or (select true from jobs where batch_id is null and finished_at is null and operation is null and number > 0 and expires_at <= app_now()
        order by expires_at limit 1)`;

/** Expires up to `limit` jobs, and the items of at most one batch. A job that had an attempt keeps the failure of that attempt. */
export async function expireJobs(db: Db, limit = 500): Promise<number> {
    const batch: { batch_id: string } | undefined = await db('batches as b')
        .where({ finished_at: null })
        .where('expires_at', '<=', now(db))
        .whereExists(db('jobs as j').whereRaw('j.batch_id = b.batch_id').where({ 'j.finished_at': null, 'j.operation': null }))
        .orderBy('expires_at')
        .first('batch_id');
    if (batch !== undefined) await endQueuedItems(db, batch.batch_id, 'expired');
    const single: string[] = await db('jobs')
        // The condition on the number selects the index (migrations/330_jobs.ts).
        .where({ batch_id: null, finished_at: null, operation: null })
        .whereRaw('number > 0')
        .where('expires_at', '<=', now(db))
        .orderBy('expires_at')
        .limit(limit)
        .pluck('job_id');
    if (single.length === 0) return 0;
    return db.transaction(async (trx) => {
        const locked: LockedJob[] = await trx('jobs')
            .whereIn('job_id', single)
            .orderBy('job_id')
            .forUpdate()
            .skipLocked()
            .select(lockedColumns(trx));
        const open = locked.filter(({ status, operation }) => status === 'queued' && operation === null);
        await lockJobAccounts(trx, open);
        await writeEnds(
            trx,
            open.map((job) => ({ job, end: { status: 'expired' } })),
        );
        return open.length;
    });
}

/** Raw: whether the cancellation of a batch was interrupted. */
export const BATCH_IS_CANCELLING =
    "select true from batches where status = 'cancelling' and finished_at is null and queued > 0 order by account_id limit 1";

/** Finishes an interrupted cancellation of a batch. */
export async function endCancelling(db: Db): Promise<void> {
    const batch = await db('batches')
        .where({ status: 'cancelling', finished_at: null })
        .where('queued', '>', 0)
        .first<{ batch_id: string }>('batch_id');
    if (batch !== undefined) await endQueuedItems(db, batch.batch_id, 'cancelled');
}

async function lockJob(
    trx: Db,
    which: Partial<Record<'job_id' | 'workspace_id' | 'operation' | 'status', string>>,
    narrow: (jobs: ReturnType<Db>) => unknown = () => undefined,
): Promise<LockedJob | undefined> {
    const jobs = trx('jobs').where(which).forUpdate();
    narrow(jobs);
    return jobs.first(lockedColumns(trx));
}
