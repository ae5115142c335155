import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import type { Job } from '../contracts/jobs.ts';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { Refusal, type RefusalCode } from '../refusals.ts';
import type { Caller } from '../store/accounts/callers.ts';
import type { FullJobRow, JobRow, Reader } from '../store/jobs/jobs.ts';
import { openError, openRequest, openResult } from '../store/jobs/sealed.ts';
import { errorObject } from './error-object.ts';

/** A key sees those jobs of its workspace that its scopes allow it to create. */
export function readerOf({ workspaceId, userId, scopes }: Caller): Reader {
    return { workspaceId, userId, scopes: scopes.listed };
}

/** A job as JSON text, with the answer of the site exactly as it was received. @param shown the fields in addition to those of lists */
export async function presentJob(app: App, row: FullJobRow, shown: { params?: boolean; result: true }): Promise<string> {
    const listed = await listedJob(app, row);
    const job = shown.params === true ? { ...listed, params: await paramsOf(app, row) } : listed;
    const result = row.result === null ? undefined : await openResult(app.secrets, row.result, row.remaining ?? 0);
    return `${JSON.stringify(job).slice(0, -1)},"result":${result ?? 'null'}}`;
}

/** Times as text. Items of a batch start and end many at a time, and `toISOString` takes 2 µs. */
const texts = new LRUCache<number, string>({ max: 1000, memoMethod: (time) => new Date(time).toISOString() });

const timeOf = (date: Date) => texts.memo(date.getTime());

const timeOrNull = (date: Date | null) => (date === null ? null : timeOf(date));

/** A job as lists show it. */
export async function listedJob(app: App, row: JobRow): Promise<Job> {
    // By hand, because results of batches are lines with a job each: `presentFields` takes twice as long.
    return {
        job_id: row.jobId,
        status: row.status,
        site: row.site,
        endpoint: row.endpoint,
        version: row.version,
        batch_id: row.batchId,
        custom_id: row.customId,
        monitor_id: row.monitorId,
        metadata: JSON.parse(row.metadata),
        created_at: timeOf(row.createdAt),
        started_at: timeOrNull(row.startedAt),
        finished_at: timeOrNull(row.finishedAt),
        expires_at: timeOf(row.expiresAt),
        waiting_for: row.status === 'queued' ? row.waitingFor : null,
        next_attempt_at: timeOrNull(row.nextAttemptAt),
        attempts: row.attempts,
        credits_used: row.creditsUsed,
        result_expired: row.resultExpired,
        error: await errorOf(app, row),
    };
}

async function errorOf(app: App, { code, error, jobId, status }: JobRow): Promise<Job['error']> {
    if (code === null || (status !== 'failed' && status !== 'queued')) return null;
    const { message, ...extras } = await openError(app.secrets, error);
    return errorObject(new Refusal(code as RefusalCode, message, extras), jobId, app.publicUrl());
}

async function paramsOf({ secrets }: App, { request }: FullJobRow): Promise<unknown> {
    if (request === null) return null;
    return (await openRequest<FetchRequest>(secrets, request, (text) => parseExact(text)))?.params ?? {};
}
