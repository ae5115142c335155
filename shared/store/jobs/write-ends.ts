import type { JobStatus } from '../../domain/jobs/states.ts';
import { type Columns, columns, type Db } from '../../platform/db.ts';
import type { MovedRow } from '../credits/moves.ts';
import { type NewEvent, recordEvents } from '../events/events.ts';
import { closeBatch } from './batch-ends.ts';
import type { ClaimedJob } from './claims.ts';

export type AttemptEnd =
    | { status: 'succeeded'; result: Buffer; question: string | null }
    | { status: 'failed'; code: string; error: Buffer }
    /** Waits for another attempt, or fails if that would start after the expiry. `isUntried`: no attempt is counted. */
    | { status: 'queued'; code: string; error: Buffer; afterMs: number; isDeath?: boolean; isUntried?: boolean }
    | { status: 'cancelled' };

export type HoldEnd = Pick<MovedRow, 'marked' | 'charged' | 'available'> & {
    /** Whether this call ended it as requested. */
    won: boolean;
};

/** An ended attempt. `decide` returns what happens to the job, depending on how its hold ended. */
export interface EndingAttempt {
    jobId: string;
    operation: string;
    batchId: string | null;
    /** Credits to charge; null releases the hold. */
    charge: number | null;
    /** Size of the result in bytes. */
    bytes: number;
    decide(hold: HoldEnd): Promise<AttemptEnd>;
}

/** Undefined if another call ended it before. Then nothing changed, unless an earlier attempt of this call made the change. */
export type EndedAttempt = { end: AttemptEnd; hold: HoldEnd } | undefined;

type OfClaimed = 'jobId' | 'workspaceId' | 'accountId' | 'batchId' | 'effect' | 'site' | 'endpoint' | 'version' | 'attempts' | 'deaths';

export interface LockedJob extends Pick<ClaimedJob, OfClaimed> {
    monitorId: string | null;
    status: JobStatus;
    operation: string | null;
    /** The hold of its attempt: one shared with items that started together, or its own. */
    hold: string | null;
    /** Its credits of that hold. */
    held: number;
    /** Milliseconds until it expires. */
    leftMs: number;
}

export function lockedColumns(db: Db): Columns<LockedJob> {
    return {
        ...columns(
            '',
            'job_id workspace_id account_id monitor_id batch_id status effect operation held site endpoint version attempts deaths',
        ),
        hold: db.raw('coalesce(hold_operation, operation)'),
        leftMs: db.raw('(extract(epoch from expires_at - app_now()) * 1000)::float8'),
    };
}

/** The job has expired. It keeps the failure of an earlier attempt. */
type Expired = { status: 'expired' };

/** A locked job and what happens to it. `hold` belongs to its attempt, if it had one. */
export interface JobEnd {
    job: LockedJob;
    end: AttemptEnd | Expired;
    hold?: HoldEnd;
}

/** How a job ended. `isKept`: code and error do not change. */
interface Final {
    job: LockedJob;
    status: JobStatus;
    code: string | null;
    error: Buffer | null;
    isKept: boolean;
    result: Buffer | null;
    question: string | null;
    credits: number | null;
    remaining: number | null;
    attempts: number;
    deaths: number;
    wasSent: boolean;
}

/** The job waits for another attempt. */
type Again = Pick<Final, 'job' | 'code' | 'error' | 'isKept' | 'attempts' | 'deaths' | 'wasSent'> & { afterMs: number };

/** Writes the ends of jobs whose holds have ended: items of one batch, or jobs without a batch. */
export async function writeEnds(trx: Db, ends: readonly JobEnd[]): Promise<void> {
    const batchId = ends[0]?.job.batchId ?? null;
    const mayWait = ends.some(({ end }) => end.status === 'queued');
    const isCancelling = mayWait && batchId !== null && (await isBeingCancelled(trx, batchId));
    const finals: Final[] = [];
    const again: Again[] = [];
    for (const one of ends) {
        const next = nextState(one, isCancelling);
        if ('afterMs' in next) again.push(next);
        else finals.push(next);
    }
    if (again.length > 0) await queueAgain(trx, again);
    if (finals.length === 0) return;
    const mayClose = await writeFinals(trx, finals, batchId);
    if (batchId === null) await recordEvents(trx, await eventsOf(trx, finals));
    else if (mayClose) await closeBatch(trx, batchId);
}

function nextState({ job, end, hold }: JobEnd, isCancelling: boolean): Final | Again {
    const { attempts, deaths } = job;
    const wasSent = job.effect === 'write' && hold?.marked === true;
    const none = { result: null, question: null, credits: null, remaining: null };
    const blank = { ...none, job, code: null, error: null, isKept: false, attempts, deaths, wasSent };
    if (end.status === 'cancelled') return { ...blank, status: 'cancelled' };
    if (end.status === 'expired') return { ...blank, isKept: true, status: attempts > 0 ? 'failed' : 'expired' };
    if (end.status === 'failed') return { ...blank, status: 'failed', code: end.code, error: end.error };
    if (end.status === 'succeeded') {
        const { status, result, question } = end;
        return { ...blank, status, result, question, credits: hold?.charged ?? 0, remaining: hold?.available ?? 0 };
    }
    const { afterMs, isDeath = false, isUntried = false } = end;
    const tried = attempts - (isUntried ? 1 : 0);
    const next = {
        ...blank,
        // Nothing was tried, so the earlier failure is kept.
        ...(isUntried ? { isKept: true } : { code: end.code, error: end.error }),
        attempts: tried,
        deaths: deaths + (isDeath ? 1 : 0),
    };
    if (isCancelling) return { ...next, status: 'cancelled' };
    if (afterMs < job.leftMs) return { ...next, afterMs };
    return { ...next, status: tried > 0 ? 'failed' : 'expired' };
}

/** Locks the row of the batch. Every end of an item needs this lock. */
async function isBeingCancelled(trx: Db, batchId: string): Promise<boolean> {
    const batch = await trx('batches').where({ batch_id: batchId }).forUpdate().first('status');
    return batch?.status === 'cancelling';
}

/** Raw: assignments that both updates share. */
const COMMON = `
    operation = null, lease_until = null, hold_operation = null, held = 0, attempts = n.attempts, deaths = n.deaths, was_sent = j.was_sent or n.was_sent,
    code = case when n.is_kept then j.code else n.code end, error = case when n.is_kept then j.error else n.error end`;

function commonColumns(rows: readonly (Final | Again)[]) {
    return {
        ids: rows.map(({ job }) => job.jobId),
        attempts: rows.map(({ attempts }) => attempts),
        deaths: rows.map(({ deaths }) => deaths),
        sent: rows.map(({ wasSent }) => wasSent),
        codes: rows.map(({ code }) => code),
        errors: rows.map(({ error }) => error),
        kept: rows.map(({ isKept }) => isKept),
    };
}

const COMMON_ARRAYS = `cast(:ids as text[]), cast(:attempts as smallint[]), cast(:deaths as smallint[]), cast(:sent as boolean[]),
    cast(:codes as text[]), cast(:errors as bytea[]), cast(:kept as boolean[])`;
const COMMON_NAMES = 'job_id, attempts, deaths, was_sent, code, error, is_kept';

async function queueAgain(trx: Db, rows: readonly Again[]): Promise<void> {
    await trx.raw(
        `update jobs j
         set status = 'queued', due_at = app_now() + n.after_ms * interval '1 millisecond', ${COMMON}
         from unnest(${COMMON_ARRAYS}, cast(:after as float8[])) as n (${COMMON_NAMES}, after_ms)
         where j.job_id = n.job_id`,
        { ...commonColumns(rows), after: rows.map(({ afterMs }) => afterMs) },
    );
}

/** Writes ends at the next positions of the batch, whose row it locks. @returns whether the batch may have to be closed or paused */
async function writeFinals(trx: Db, rows: readonly Final[], batchId: string | null): Promise<boolean> {
    const failed = rows.filter(({ status }) => status === 'failed').length;
    const { rows: written } = await trx.raw<{ rows: { may_close: boolean | null }[] }>(
        `with reserved as (
             update batches set ends = ends + :count where batch_id = :batchId
             returning ends - :count as before,
                       -- The trigger of jobs has not counted these ends yet.
                       queued + running <= :count or failures + :failed >= stop_after_failures as may_close
         )
         update jobs j
         set status = n.status, waiting_for = null, finished_at = app_now(), end_number = (select before from reserved) + n.place,
             result = coalesce(n.result, j.result), question = coalesce(n.question, j.question),
             credits_used = coalesce(n.credits, j.credits_used), remaining = coalesce(n.remaining, j.remaining), ${COMMON}
         from unnest(${COMMON_ARRAYS}, cast(:statuses as text[]), cast(:results as bytea[]), cast(:questions as text[]),
                     cast(:credits as bigint[]), cast(:remaining as bigint[]))
             with ordinality as n (${COMMON_NAMES}, status, result, question, credits, remaining, place)
         where j.job_id = n.job_id
         returning (select may_close from reserved) as may_close`,
        {
            ...commonColumns(rows),
            batchId,
            count: rows.length,
            failed,
            statuses: rows.map(({ status }) => status),
            results: rows.map(({ result }) => result),
            questions: rows.map(({ question }) => question),
            credits: rows.map(({ credits }) => credits),
            remaining: rows.map(({ remaining }) => remaining),
        },
    );
    return written[0]?.may_close === true;
}

/** Events of ended jobs. Monitors record the events of their own runs. */
async function eventsOf(trx: Db, finals: readonly Final[]): Promise<NewEvent[]> {
    const reported = finals.filter(({ job }) => job.monitorId === null);
    if (reported.length === 0) return [];
    const ids = reported.map(({ job }) => job.jobId);
    const rows: { job_id: string; code: string | null; credits_used: number }[] = await trx('jobs')
        .whereIn('job_id', ids)
        .select('job_id', 'code', 'credits_used');
    const written = new Map(rows.map((row) => [row.job_id, row]));
    return reported.map(({ status, job: { jobId, workspaceId, site, endpoint, version } }) => {
        const row = written.get(jobId);
        const data = { job_id: jobId, status, site, endpoint, version, credits_used: row?.credits_used ?? 0, code: row?.code ?? null };
        return { type: `job.${status as 'succeeded' | 'failed' | 'cancelled' | 'expired'}` as const, workspaceId, data, about: jobId };
    });
}
