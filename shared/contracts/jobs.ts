import Joi from 'joi';
import { EXPIRY, LONGEST_WAIT } from '../domain/jobs/bounds.ts';
import { JOB_STATUSES, type JobStatus, WAITING_FOR, type WaitingFor } from '../domain/jobs/states.ts';
import type { JsonObject } from '../domain/types.ts';
import type { ErrorBody } from '../refusals.ts';
import { CALL_BYTES } from './body-bytes.ts';
import { contract } from './contract.ts';
import { ADMISSION_REFUSALS, CALL_HEADERS, type FetchRequest, fetchFields } from './fetch.ts';
import * as v from './vocabulary.ts';

export type Metadata = Readonly<Record<string, string>>;

export interface JobRequest extends Omit<FetchRequest, 'dry_run'> {
    metadata?: Metadata;
    expires_in?: number;
}

export interface Job {
    job_id: string;
    status: JobStatus;
    site: string;
    endpoint: string;
    version: number;
    batch_id: string | null;
    custom_id: string | null;
    monitor_id: string | null;
    metadata: Metadata;
    created_at: string;
    started_at: string | null;
    finished_at: string | null;
    expires_at: string;
    waiting_for: WaitingFor | null;
    next_attempt_at: string | null;
    attempts: number;
    credits_used: number;
    params?: JsonObject | null;
    result?: JsonObject | null;
    result_expired: boolean;
    error: ErrorBody | null;
}

export interface JobsQuery extends v.PageQuery {
    status?: JobStatus;
    site?: string;
    batch_id?: string;
}

export interface WaitQuery {
    wait?: number;
}

export const metadata = () =>
    Joi.object()
        .pattern(Joi.string().max(64), v.characters(500).allow(''))
        .max(16)
        .messages({ 'object.unknown': 'A name in metadata must have 1 to 64 characters' })
        .description('Up to 16 names of 64 characters, with values of up to 500 characters; returned with the job or batch');
export const waitQuery = () =>
    Joi.object<WaitQuery, true>({
        wait: v.integer(0, LONGEST_WAIT).default(0).description('Seconds to wait for the end; an account may have up to 50 waiting reads'),
    });
const jobStatus = () => v.oneOf(JOB_STATUSES);

/** The fields of a job. @param shown the optional fields that an answer includes */
export const jobFields = (shown: { params?: true; result?: true } = {}) =>
    ({
        job_id: v.id('job'),
        status: jobStatus(),
        site: v.siteName(),
        endpoint: Joi.string(),
        version: v.versionNumber(),
        batch_id: Joi.string().allow(null),
        custom_id: Joi.string().allow(null),
        monitor_id: Joi.string().allow(null),
        metadata: metadata(),
        created_at: v.time(),
        started_at: v.nullableTime(),
        finished_at: v.nullableTime(),
        expires_at: v.time().description('The job expires if it has not started by then'),
        waiting_for: Joi.string()
            .valid(...WAITING_FOR, null)
            .description('Why a queued job does not start; null: it waits for a worker or its next attempt, or is not queued'),
        next_attempt_at: v.nullableTime(),
        attempts: v.count(),
        credits_used: v.count(),
        ...(shown.params ? { params: v.jsonObject().allow(null).description('null after their deletion') } : {}),
        ...(shown.result
            ? {
                  result: v.jsonObject().allow(null).description('data and meta, as in the answer of a fetch; null if there is no result'),
              }
            : {}),
        result_expired: Joi.boolean().description('true: the result was deleted'),
        error: v.jsonObject().allow(null).description('The error of the last attempt of a failed job'),
    }) as Joi.StrictSchemaMap<Job>;
export const jobSchema = (shown: Parameters<typeof jobFields>[0] = {}) => v.complete<Job>(jobFields(shown));

const COMMON = { tag: 'Jobs', scope: 'jobs', window: 'reads' } as const;

export const postJob = contract('postJob', 'POST /v1/jobs', {
    ...COMMON,
    summary: 'Queue a call as a job',
    description:
        'Accepts the body of POST /v1/fetch. Where a fetch would be refused for limits or credits, the job waits. Reads are retried after retryable errors. A job is billed like a fetch.',
    idempotent: true,
    window: 'jobs',
    countsRefused: true,
    body: {
        schema: Joi.object<JobRequest, true>({
            ...fetchFields(),
            metadata: metadata(),
            expires_in: v
                .integer(EXPIRY.min, EXPIRY.max)
                .description(`Seconds that the job may wait to start; ${EXPIRY.fallback} by default`),
        }),
        maxBytes: CALL_BYTES,
        hasParams: true,
    },
    headers: CALL_HEADERS,
    answer: { status: 202, schema: () => jobSchema({ result: true }) },
    refusals: ADMISSION_REFUSALS,
});

export const getJob = contract('getJob', 'GET /v1/jobs/{job_id}', {
    ...COMMON,
    summary: 'Read a job, or wait for its end',
    query: waitQuery(),
    answer: { schema: () => jobSchema({ params: true, result: true }) },
});

export const getJobs = contract('getJobs', 'GET /v1/jobs', {
    ...COMMON,
    summary: 'List jobs',
    description: 'Newest first, without params and results. Items of batches are jobs too.',
    query: Joi.object<JobsQuery, true>({
        status: jobStatus(),
        site: v.siteInput(),
        batch_id: Joi.string().max(100).description('Only items of this batch'),
        limit: v.limit(),
        cursor: v.cursor(),
    }),
    answer: { shape: 'list', schema: () => v.listOf(jobSchema()) },
    refusals: ['INVALID_DOMAIN'],
});

export const deleteJob = contract('deleteJob', 'DELETE /v1/jobs/{job_id}', {
    ...COMMON,
    summary: 'Cancel a job',
    description: 'Cancels a queued job, or aborts a running read, which is not billed. Cancelling a cancelled job changes nothing.',
    answer: { schema: () => jobSchema({ params: true, result: true }) },
    refusals: ['JOB_NOT_CANCELLABLE'],
});

export const deleteJobResult = contract('deleteJobResult', 'DELETE /v1/jobs/{job_id}/result', {
    ...COMMON,
    summary: 'Delete the result and params of an ended job',
    description:
        'Deletes them at once, and the copy that max_age would serve. The job itself remains. A job that has not ended is unchanged.',
    answer: { schema: () => jobSchema({ params: true, result: true }) },
});
