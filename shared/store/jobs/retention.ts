import { columns, type Db } from '../../platform/db.ts';
import { forgetResult } from '../fetch/results.ts';
import { lockJobAccounts } from './job-accounts.ts';

/** Number of days for which rows of ended jobs are kept. */
const ROW_DAYS = 90;
/** Younger results are never deleted to free space. */
const MIN_AGE = '24 hours';

const OUT = { request: null, result: null };
/** Raw: an account or batch without a row counts as waiting longest. After a day that is true anyway. */
const OLD_TURN = "served_at < fleet_now() - interval '1 day'";
/** Raw: the job has or had a result. */
const EXPIRED = 'result_expired or result is not null';

/** Raw: whether `sweepJobs` has anything to delete. */
export function jobsAreOld(days: number): string {
    const ended = (ofDays: number) => `finished_at < app_now() - ${ofDays} * interval '1 day'`;
    return `select true where
        (select true from jobs where ${ended(days)} and request is not null order by finished_at limit 1)
        or (select true from jobs where ${ended(ROW_DAYS)} order by finished_at limit 1)
        or (select true from batches where ${ended(ROW_DAYS)} order by finished_at limit 1)
        or exists (select from job_turns where ${OLD_TURN})`;
}

/** Deletes params and results older than `days`, and rows older than 90 days. Any process may run it at any time. */
export async function sweepJobs(db: Db, days: number): Promise<void> {
    await db.transaction(async (trx) => {
        const old = await lockEnded(trx, days, (jobs) => jobs.whereNotNull('request'));
        await trx('jobs')
            .whereIn('job_id', old)
            .update({ ...OUT, result_expired: trx.raw(EXPIRED) });
    });
    await db.transaction(async (trx) => {
        await trx('jobs')
            .whereIn('job_id', await lockEnded(trx, ROW_DAYS))
            .delete();
    });
    await db('batches').whereRaw("finished_at < app_now() - ? * interval '1 day'", [ROW_DAYS]).delete();
    await db('job_turns').whereRaw(OLD_TURN).delete();
}

/** Locks the jobs that ended first and at least `days` days ago, and their accounts. Returns their ids. */
async function lockEnded(trx: Db, days: number, narrow: (jobs: ReturnType<Db>) => unknown = () => undefined): Promise<string[]> {
    // Ordered by their ends. If ordered by id, a server without statistics reads the whole table.
    const first = trx('jobs')
        .whereRaw("finished_at < app_now() - ? * interval '1 day'", [days])
        .orderBy('finished_at')
        .limit(500)
        .select('job_id');
    narrow(first);
    const rows: { jobId: string; accountId: string }[] = await trx('jobs')
        .whereIn('job_id', first)
        .orderBy('job_id')
        .forUpdate()
        .skipLocked()
        .select(columns('', 'job_id account_id'));
    await lockJobAccounts(trx, rows);
    return rows.map(({ jobId }) => jobId);
}

/** Deletes an account's oldest results until at most `max` bytes are left, except those of the last 24 hours. */
export async function makeSpace(db: Db, accountId: string, max: number): Promise<void> {
    await db.raw(
        `with kept as (
            select job_id, finished_at, sum(octet_length(result)) over (order by finished_at desc, job_id) as bytes
            from jobs where account_id = ? and result is not null
        ), old as (
            select j.job_id from jobs j where j.job_id in (select job_id from kept where bytes > ?)
                and j.finished_at < app_now() - interval '${MIN_AGE}' order by j.job_id for update skip locked
        )
        update jobs set request = null, result = null, result_expired = true where job_id in (select job_id from old)`,
        [accountId, max],
    );
}

/** Deletes params and result of an ended job, and the copy that is stored for `max_age`. */
export async function deleteResult(db: Db, workspaceId: string, jobId: string): Promise<void> {
    await db.transaction(async (trx) => {
        const job = await trx('jobs')
            .where({ job_id: jobId, workspace_id: workspaceId })
            .whereNotIn('status', ['queued', 'running'])
            .forUpdate()
            .first('account_id', 'question');
        if (job === undefined) return;
        await trx('jobs')
            .where({ job_id: jobId })
            .update({ ...OUT, question: null, result_expired: trx.raw(EXPIRED) });
        if (job.question === null) return;
        await forgetResult(trx, { accountId: job.account_id, question: job.question });
    });
}
