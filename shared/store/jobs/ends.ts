import type { JobStatus } from '../../domain/jobs/states.ts';
import type { Effect, JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { type MovedRow, move } from '../credits/moves.ts';
import { recordEvent } from '../events/events.ts';
import { closeBatch, endQueuedItems, nextEnd } from './batch-ends.ts';
import { lockJobAccounts } from './job-accounts.ts';

/** What becomes of an attempt. */
export type AttemptEnd =
    | { status: 'succeeded'; result: Buffer; question: string | null }
    | { status: 'failed'; code: string; error: Buffer }
    /** It waits for another attempt; where that would begin too late, it has failed. `isUntried`: nothing was tried, and none is counted. */
    | { status: 'queued'; code: string; error: Buffer; afterMs: number; isDeath?: boolean; isUntried?: boolean }
    | { status: 'cancelled' };

interface LockedJob {
    job_id: string;
    workspace_id: string;
    monitor_id: string | null;
    batch_id: string | null;
    status: JobStatus;
    effect: Effect;
    operation: string | null;
    site: string;
    endpoint: string;
    version: number;
    attempts: number;
    deaths: number;
}

const TIMEOUT_MS = 5000;

/** How the hold of an attempt ended. */
export type HoldEnd = Pick<MovedRow, 'marked' | 'charged' | 'available'> & {
    /** This call ended it, as it wanted. */
    won: boolean;
};

/**
 * Ends an attempt: its hold and its job, in one transaction. `decide` says what becomes of the job by how the hold ended.
 * @param charge credits; null releases the hold
 * @returns undefined where another call ended it before: then nothing moved, unless an earlier try of this call did it
 */
export async function endAttempt(
    db: Db,
    { jobId, operation }: { jobId: string; operation: string },
    charge: number | null,
    decide: (hold: HoldEnd) => Promise<AttemptEnd>,
): Promise<{ end: AttemptEnd; hold: HoldEnd } | undefined> {
    return db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, operation, status: 'running' });
        if (job === undefined) return undefined;
        const hold = await endHold(trx, operation, charge);
        const end = await decide(hold);
        await writeEnd(trx, job, end, hold);
        return { end, hold };
    });
}

/** Ends a job that a worker has and that has not begun: its key is gone, or the call would be refused. */
export async function endUnbegun(
    db: Db,
    { jobId, operation }: { jobId: string; operation: string },
    end: AttemptEnd & { status: 'failed' | 'cancelled' },
): Promise<void> {
    await db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, operation, status: 'queued' });
        if (job !== undefined) await writeEnd(trx, job, end);
    });
}

/** Ends a job that was answered from what the account had paid for before: nothing moves. */
export async function endWithKept(
    db: Db,
    { jobId, operation }: { jobId: string; operation: string },
    { available, ...kept }: { result: Buffer; question: string | null; available: number },
): Promise<boolean> {
    return db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, operation, status: 'queued' });
        if (job === undefined) return false;
        await writeEnd(trx, job, { status: 'succeeded', ...kept }, { available, charged: 0, marked: false, won: true });
        return true;
    });
}

/** What cancelling a job came to. */
export type Cancelled = 'cancelled' | 'not cancellable' | 'unknown';

/** Cancels a job that has not ended, unless it is a write that was marked as sent. Its hold is released with it. */
export async function cancelJob(db: Db, workspaceId: string, jobId: string): Promise<Cancelled> {
    return db.transaction(async (trx) => {
        const job = await lockJob(trx, { job_id: jobId, workspace_id: workspaceId });
        if (job === undefined) return 'unknown';
        if (job.status === 'cancelled') return 'cancelled';
        if (job.status !== 'queued' && job.status !== 'running') return 'not cancellable';
        const { operation } = job;
        if (job.status === 'running' && operation !== null) {
            const hold = await trx('holds').where({ operation }).forUpdate().first('sent_at');
            if (job.effect === 'write' && hold?.sent_at != null) return 'not cancellable';
            await endHold(trx, operation, null);
        }
        await writeEnd(trx, job, { status: 'cancelled' });
        return 'cancelled';
    });
}

/** A job whose worker died. */
export interface LostJob {
    jobId: string;
    effect: Effect;
    /** Deaths before this one. */
    deaths: number;
}

/**
 * Takes jobs back from workers that died. What had not begun waits on; of the others `decide` says what becomes of them. Their holds are
 * released: a charge would have ended them.
 * @returns how many had begun
 */
export async function reapJobs(db: Db, decide: (job: LostJob, hold: HoldEnd) => Promise<AttemptEnd>, limit = 100): Promise<number> {
    const lost = await db('jobs')
        .whereNotNull('operation')
        .where('lease_until', '<=', db.raw('fleet_now()'))
        .limit(limit)
        .select<{ job_id: string; operation: string }[]>('job_id', 'operation');
    let begun = 0;
    for (const { job_id: jobId, operation } of lost) {
        await db.transaction(async (trx) => {
            const job = await lockJob(trx, { job_id: jobId, operation }, (jobs) => jobs.where('lease_until', '<=', db.raw('fleet_now()')));
            if (job === undefined) return;
            const hold = await endHold(trx, operation, null);
            if (job.status === 'queued') {
                await trx('jobs').where({ job_id: jobId }).update({ operation: null, lease_until: null });
                return;
            }
            begun += 1;
            await writeEnd(trx, job, await decide({ jobId, effect: job.effect, deaths: job.deaths }, hold), hold);
        });
    }
    return begun;
}

/** Ends jobs that nobody began in time, at most `limit`, and items of one batch at most; what had an attempt keeps its failure. */
export async function expireJobs(db: Db, limit = 500): Promise<number> {
    const item = await db('jobs')
        .where({ status: 'queued', operation: null })
        .where('expires_at', '<=', db.raw('app_now()'))
        .whereNotNull('batch_id')
        .first<{ batch_id: string }>('batch_id');
    const isLate = (items: ReturnType<Db>) => void items.where({ operation: null }).where('expires_at', '<=', db.raw('app_now()'));
    if (item !== undefined) await db.transaction((trx) => endQueuedItems(trx, item.batch_id, 'expired', isLate));
    return db.transaction(async (trx) => {
        const late = await trx('jobs')
            .where({ status: 'queued', operation: null, batch_id: null })
            .where('expires_at', '<=', trx.raw('app_now()'))
            .orderBy('job_id')
            .limit(limit)
            .forUpdate()
            .skipLocked()
            .select<(LockedJob & { account_id: string })[]>(...LOCKED, 'account_id');
        await lockJobAccounts(trx, late);
        for (const job of late) await finish(trx, job, { status: job.attempts > 0 ? 'failed' : 'expired' });
        return late.length;
    });
}

/** Ends what is queued of a batch whose cancel broke off in the middle. */
export async function endCancelling(db: Db): Promise<void> {
    const batch = await db('batches')
        .where({ status: 'cancelling', finished_at: null })
        .where('queued', '>', 0)
        .first<{ batch_id: string }>('batch_id');
    if (batch !== undefined) await db.transaction((trx) => endQueuedItems(trx, batch.batch_id, 'cancelled'));
}

const LOCKED = [
    'job_id',
    'workspace_id',
    'monitor_id',
    'batch_id',
    'status',
    'effect',
    'operation',
    'site',
    'endpoint',
    'version',
    'attempts',
    'deaths',
] as const;

async function lockJob(
    trx: Db,
    which: Partial<Record<'job_id' | 'workspace_id' | 'operation' | 'status', string>>,
    narrow: (jobs: ReturnType<Db>) => unknown = () => undefined,
): Promise<LockedJob | undefined> {
    const jobs = trx('jobs').where(which).forUpdate();
    narrow(jobs);
    return jobs.first(...LOCKED);
}

async function endHold(trx: Db, operation: string, charge: number | null): Promise<HoldEnd> {
    const [row] = await move(trx, { orders: [], settlements: [{ operation, charge }], marks: [] }, TIMEOUT_MS);
    return row ?? { won: false, marked: false, charged: 0, available: 0 };
}

async function writeEnd(trx: Db, job: LockedJob, end: AttemptEnd, hold?: HoldEnd): Promise<void> {
    if (job.effect === 'write' && hold?.marked === true) await trx('jobs').where({ job_id: job.job_id }).update({ was_sent: true });
    if (end.status === 'cancelled') return finish(trx, job, { status: 'cancelled', code: null, error: null });
    if (end.status === 'failed') return finish(trx, job, { status: 'failed', code: end.code, error: end.error });
    if (end.status === 'succeeded') {
        const { result, question } = end;
        const paid = { credits_used: hold?.charged ?? 0, remaining: hold?.available ?? 0 };
        return finish(trx, job, { status: 'succeeded', code: null, error: null, result, question, ...paid });
    }
    const { afterMs, isDeath = false, isUntried = false } = end;
    const attempts = job.attempts - (isUntried ? 1 : 0);
    // What was not tried has not failed: an earlier failure stays.
    const failure = isUntried ? {} : { code: end.code, error: end.error };
    const again = "app_now() + ? * interval '1 millisecond'";
    const deaths = job.deaths + (isDeath ? 1 : 0);
    if (job.batch_id !== null && (await isBeingCancelled(trx, job.batch_id))) {
        return finish(trx, job, { status: 'cancelled', ...failure, deaths, attempts });
    }
    const waits = await trx('jobs')
        .where({ job_id: job.job_id })
        .whereRaw(`${again} < expires_at`, [afterMs])
        .update({
            status: 'queued',
            operation: null,
            lease_until: null,
            held: 0,
            due_at: trx.raw(again, [afterMs]),
            ...failure,
            deaths,
            attempts,
        });
    if (waits === 0) await finish(trx, job, { status: attempts > 0 ? 'failed' : 'expired', ...failure, deaths, attempts });
}

/** Its row is locked, as every end of an item needs it. */
async function isBeingCancelled(trx: Db, batchId: string): Promise<boolean> {
    const batch = await trx('batches').where({ batch_id: batchId }).forUpdate().first('status');
    return batch?.status === 'cancelling';
}

/**
 * The row of an end, and its event. Items of batches have their place among the results instead, and monitors tell of their runs
 * themselves.
 */
async function finish(trx: Db, job: LockedJob, fields: { status: JobStatus } & Record<string, unknown>): Promise<void> {
    const ended = { ...fields, operation: null, lease_until: null, held: 0, waiting_for: null, finished_at: trx.raw('app_now()') };
    if (job.batch_id !== null) {
        const end = await nextEnd(trx, job.batch_id);
        await trx('jobs')
            .where({ job_id: job.job_id })
            .update({ ...ended, end_number: end });
        return closeBatch(trx, job.batch_id);
    }
    const [row] = await trx('jobs').where({ job_id: job.job_id }).update(ended).returning(['code', 'credits_used']);
    if (job.monitor_id !== null) return;
    const { job_id: jobId, workspace_id: workspaceId, site, endpoint, version } = job;
    const { status } = fields;
    const data: JsonObject = { job_id: jobId, status, site, endpoint, version, credits_used: row.credits_used, code: row.code };
    const type = `job.${status as 'succeeded' | 'failed' | 'cancelled' | 'expired'}` as const;
    await recordEvent(trx, { type, workspaceId, data, about: jobId });
}
