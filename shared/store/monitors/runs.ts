import { KEPT_VALUES } from '../../domain/monitors/bounds.ts';
import type { MonitorStatus, PausedReason, SkippedReason } from '../../domain/monitors/states.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Db, now, toColumns } from '../../platform/db.ts';
import { lastPrunedNumber, lockMonitor, type MonitorRow } from './monitors.ts';

/** How long a claim lasts, in real time by the database's clock. If a worker dies, another one takes over after this time. */
const CLAIM = "fleet_now() + interval '30 seconds'";
const FREE = '(claimed_until is null or claimed_until <= fleet_now())';

const DAY_BEGAN = "date_trunc('day', app_now() at time zone 'UTC') at time zone 'UTC'";

/** A monitor that this worker has claimed to start a run. */
export type DueMonitor = MonitorRow & { claim: string };

/** Raw: whether a monitor is due. */
export const MONITOR_IS_DUE = `select true from monitors where next_run_at <= app_now() and ${FREE} order by next_run_at limit 1`;

/** Claims the monitor that has been due longest, so that no other worker gets it. */
export async function takeDueMonitor(db: Db): Promise<DueMonitor | undefined> {
    return db.transaction(async (trx) => {
        const claim = newId('op');
        const due = trx('monitors').where('next_run_at', '<=', now(trx)).whereRaw(FREE).orderBy('next_run_at').limit(1);
        const [taken] = await trx('monitors')
            .where({ monitor_id: due.forUpdate().skipLocked().select('monitor_id') })
            .update({ claim, claimed_until: trx.raw(CLAIM) })
            .returning('monitor_id');
        const monitor = taken === undefined ? undefined : await lockMonitor(trx, taken.monitor_id);
        return monitor && { ...monitor, claim };
    });
}

/** Ends a claim and updates the monitor. False if another worker claimed it or it was changed meanwhile. */
export async function endClaim(
    trx: Db,
    { monitorId, claim }: Pick<DueMonitor, 'monitorId' | 'claim'>,
    end: { nextRunAt: Date } | { paused: PausedReason },
): Promise<boolean> {
    const ended = await trx('monitors')
        .where({ monitor_id: monitorId, claim })
        .update({
            claim: null,
            claimed_until: null,
            ...('paused' in end ? { status: 'paused', paused_reason: end.paused, next_run_at: null } : { next_run_at: end.nextRunAt }),
        });
    return ended === 1;
}

interface NewRun {
    runId: string;
    monitorId: string;
    base: number;
    dueAt: Date | null;
}

/** Adds a run with its job. Call it with the monitor locked, so that no monitor has two running runs. */
export async function addRun(trx: Db, run: NewRun, { jobId, version }: { jobId: string; version: number }): Promise<void> {
    await trx('monitor_runs').insert(toColumns({ ...run, status: 'running', jobId, version }));
}

/** Adds a run that ended before it started. @param end includes the job if a person started the run */
export async function addEndedRun(
    trx: Db,
    run: NewRun,
    end:
        | { status: 'skipped'; reason: SkippedReason; job?: { jobId: string; version: number } }
        | { status: 'failed'; code: string; error: Buffer },
): Promise<void> {
    await trx('monitor_runs').insert({
        ...toColumns(run),
        status: end.status,
        finished_at: now(trx),
        ...(end.status === 'skipped'
            ? { skipped_reason: end.reason, job_id: end.job?.jobId, version: end.job?.version }
            : { code: end.code, error: end.error }),
    });
    await forgetOld(trx, run.monitorId);
}

export async function runningJob(db: Db, monitorId: string): Promise<string | undefined> {
    const run = await db('monitor_runs').where({ monitor_id: monitorId, status: 'running' }).first('job_id');
    return run?.job_id;
}

/** Credits used by the runs of this day (UTC). */
export async function creditsOfDay(db: Db, monitorId: string): Promise<number> {
    const row = await db('monitor_runs')
        .where({ monitor_id: monitorId })
        .whereRaw(`started_at >= ${DAY_BEGAN}`)
        .sum<{ sum: string | null }>({ sum: 'credits_used' })
        .first();
    return Number(row?.sum ?? 0);
}

/** A run whose job has ended, with the outcome of the job. */
export interface EndedRun extends NewRun {
    claim: string;
    version: number;
    versionId: number | null;
    /** Null if the job was deleted. */
    jobStatus: 'succeeded' | 'failed' | 'cancelled' | 'expired' | null;
    code: string | null;
    error: Buffer | null;
    result: Buffer | null;
    remaining: number | null;
    creditsUsed: number | null;
}

/** Raw: runs whose jobs have ended. */
const JOB_HAS_ENDED = `from monitor_runs r left join jobs j using (job_id)
            where r.status = 'running' and (j.job_id is null or j.status not in ('queued', 'running'))`;
/** Raw: those of them that no worker ends. */
const ENDED = `${JOB_HAS_ENDED} and (r.claimed_until is null or r.claimed_until <= fleet_now())`;

/** Whether the job of the monitor's run has ended, but not yet the run. */
export async function isRunEnding(db: Db, monitorId: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: object[] }>(`select ${JOB_HAS_ENDED} and r.monitor_id = ?`, [monitorId]);
    return rows.length > 0;
}

/** Raw: whether the job of a run has ended. The order is that of the index of running runs. */
export const RUN_HAS_ENDED = `select true ${ENDED} order by r.monitor_id limit 1`;

export async function takeEndedRun(db: Db): Promise<EndedRun | undefined> {
    const claim = newId('op');
    const { rows } = await db.raw<{ rows: EndedRun[] }>(
        `with ended as (
            select r.run_id ${ENDED}
            order by r.number limit 1 for update of r skip locked
        ), taken as (
            update monitor_runs r set claim = ?, claimed_until = ${CLAIM} from ended where r.run_id = ended.run_id returning r.*
        )
        select t.run_id as "runId", t.monitor_id as "monitorId", t.claim, t.base, t.due_at as "dueAt", t.version, j.version_id as "versionId",
               j.status as "jobStatus", j.code, j.error, j.result, j.remaining, j.credits_used as "creditsUsed"
        from taken t left join jobs j using (job_id)`,
        [claim],
    );
    return rows[0];
}

/** The value that a run is compared with: the value of the last successful run with the same base. */
export async function valueBefore(
    db: Db,
    { monitorId, base }: { monitorId: string; base: number },
): Promise<{ runId: string; version: number; value: Buffer } | undefined> {
    return db('monitor_runs')
        .where({ monitor_id: monitorId, base, status: 'succeeded' })
        .whereNotNull('value')
        .orderBy('number', 'desc')
        .first({ runId: 'run_id', version: 'version', value: 'value' });
}

/** Whether any version between these two is a major (breaking) one. */
export async function isMajorBetween(db: Db, site: string, one: number, other: number): Promise<boolean> {
    const [from, to] = [Math.min(one, other), Math.max(one, other)];
    const found = await db('versions')
        .where({ site, change: 'major' })
        .whereBetween('version', [from + 1, to])
        .first('version');
    return from !== to && found !== undefined;
}

export type RunEnd =
    | {
          status: 'succeeded';
          value: Buffer;
          changed: boolean | null;
          /** Stored in the history even if no event is sent. Absent if nothing changed. */
          change?: { changeId: string; diff: Buffer; isTruncated: boolean; beforeRun: string } | undefined;
      }
    | { status: 'failed'; code: string; error: Buffer }
    | { status: 'skipped'; reason: SkippedReason };

/** Writes the end of a claimed run. Call it with the monitor locked. False if another worker has ended it. */
export async function writeRunEnd(trx: Db, run: EndedRun, end: RunEnd): Promise<boolean> {
    const change = end.status === 'succeeded' ? end.change : undefined;
    const ended = await trx('monitor_runs')
        .where({ run_id: run.runId, status: 'running', claim: run.claim })
        .update({
            status: end.status,
            finished_at: now(trx),
            credits_used: run.creditsUsed ?? 0,
            claim: null,
            claimed_until: null,
            ...(end.status === 'succeeded' ? { value: end.value, changed: end.changed, change_id: change?.changeId ?? null } : {}),
            ...(end.status === 'failed' ? { code: end.code, error: end.error } : {}),
            ...(end.status === 'skipped' ? { skipped_reason: end.reason } : {}),
        });
    if (ended === 0) return false;
    if (change !== undefined) {
        const { isTruncated, ...others } = change;
        const { monitorId, runId } = run;
        await trx('monitor_changes').insert(toColumns({ ...others, monitorId, diffTruncated: isTruncated, afterRun: runId }));
    }
    await forgetOld(trx, run.monitorId);
    return true;
}

export async function setHealth(
    trx: Db,
    monitorId: string,
    { failures, status, nextRunAt }: { failures: number; status: MonitorStatus; nextRunAt: Date | null },
): Promise<void> {
    await trx('monitors').where({ monitor_id: monitorId }).update({ failures, status, next_run_at: nextRunAt });
}

/** Call it with the monitor locked. */
export async function pauseMonitor(trx: Db, monitorId: string, reason: PausedReason): Promise<void> {
    await trx('monitors')
        .where({ monitor_id: monitorId })
        .whereNot({ status: 'paused' })
        .update({ status: 'paused', paused_reason: reason, next_run_at: null, claim: null, claimed_until: null });
}

/** Deletes old runs, except unfinished runs, the two latest values, and runs that count towards the credits of the day. */
async function forgetOld(trx: Db, monitorId: string): Promise<void> {
    const valued = trx('monitor_runs').where({ monitor_id: monitorId }).whereNotNull('value');
    const oldValue = valued.clone().orderBy('number', 'desc').offset(KEPT_VALUES).limit(1).select('number');
    await valued.where('number', '<=', oldValue).update({ value: null });
    await trx('monitor_runs')
        .where({ monitor_id: monitorId })
        .where('number', '<=', lastPrunedNumber(trx, 'monitor_runs', monitorId))
        .whereNot({ status: 'running' })
        .whereNull('value')
        .whereRaw(`(credits_used = 0 or started_at < ${DAY_BEGAN})`)
        .delete();
    const changes = trx('monitor_changes').where({ monitor_id: monitorId });
    await changes.where('number', '<=', lastPrunedNumber(trx, 'monitor_changes', monitorId)).delete();
}
