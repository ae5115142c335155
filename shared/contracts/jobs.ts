import Joi from 'joi';
import { EXPIRY, LONGEST_WAIT } from '../domain/jobs/bounds.ts';
import { JOB_STATUSES, type JobStatus, WAITING_FOR, type WaitingFor } from '../domain/jobs/states.ts';
import type { JsonObject } from '../domain/types.ts';
import { CALL_BYTES, contract } from './contract.ts';
import { ADMISSION_REFUSALS, type FetchRequest, fetchFields } from './fetch.ts';
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
    error: JsonObject | null;
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
        .pattern(Joi.string().max(64), Joi.string().allow('').max(500))
        .max(16)
        .description('Up to 16 names, of 64 characters, with texts of 500 characters; it comes back with the answer');
const jobId = () => Joi.string().description('job_…');
export const waitQuery = () =>
    Joi.object<WaitQuery, true>({
        wait: Joi.number()
            .integer()
            .min(0)
            .max(LONGEST_WAIT)
            .default(0)
            .description('Seconds that the answer may wait for the end; an account has up to 50 such reads at once'),
    });
const jobParams = () => Joi.object<{ job_id: string }, true>({ job_id: jobId().required() });
const jobStatus = () => Joi.string().valid(...JOB_STATUSES);

/** @param shown what an answer has beside the fields that all have */
export const jobFields = (shown: { params?: true; result?: true } = {}) =>
    ({
        job_id: jobId().required(),
        status: jobStatus().required(),
        site: v.siteName().required(),
        endpoint: Joi.string().required(),
        version: v.versionNumber().required(),
        batch_id: Joi.string().allow(null).required(),
        custom_id: Joi.string().allow(null).required(),
        monitor_id: Joi.string().allow(null).required(),
        metadata: metadata().required(),
        created_at: v.time().required(),
        started_at: v.nullableTime().required(),
        finished_at: v.nullableTime().required(),
        expires_at: v.time().required().description('Until then it waits for its turn'),
        waiting_for: Joi.string()
            .valid(...WAITING_FOR, null)
            .required()
            .description('Why a queued job does not begin; null: it waits for a worker, for its next attempt, or not at all'),
        next_attempt_at: v.nullableTime().required(),
        attempts: v.count().required(),
        credits_used: v.count().required(),
        ...(shown.params ? { params: v.jsonObject().allow(null).required().description('null once they were deleted') } : {}),
        ...(shown.result
            ? { result: v.jsonObject().allow(null).required().description('data and meta, as a fetch answers; null without one') }
            : {}),
        result_expired: Joi.boolean().required().description('true: there was a result, and it is deleted'),
        error: v.jsonObject().allow(null).required().description('The error object of the last attempt of a failed job'),
    }) as Joi.StrictSchemaMap<Job>;
export const jobSchema = (shown: Parameters<typeof jobFields>[0] = {}) => Joi.object<Job, true>(jobFields(shown));

const TAG = 'Jobs';
const ONE: readonly ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'JOB_NOT_FOUND', 'RATE_LIMITED'] = [
    'API_KEY_REQUIRED',
    'INVALID_API_KEY',
    'FORBIDDEN',
    'JOB_NOT_FOUND',
    'RATE_LIMITED',
];

/** POST /v1/jobs: a fetch that is answered later. */
export const postJob = contract<object, object, JobRequest, Job>({
    name: 'postJob',
    method: 'POST',
    path: '/v1/jobs',
    tag: TAG,
    summary: 'Order a call that is answered later',
    description:
        'Takes what POST /v1/fetch takes. The job waits for its turn where a fetch would be refused, is tried again where a fetch would only be retryable, and is billed like a fetch.',
    auth: 'required',
    scope: 'jobs',
    counted: false,
    idempotent: true,
    body: {
        schema: Joi.object<JobRequest, true>({
            ...fetchFields(),
            metadata: metadata(),
            expires_in: Joi.number()
                .integer()
                .min(EXPIRY.least)
                .max(EXPIRY.most)
                .description(`Seconds that it may wait for its turn; ${EXPIRY.fallback} by default`),
        }),
        maxBytes: CALL_BYTES,
        guard: true,
        hasParams: true,
    },
    headers: {
        'Idempotency-Key': { description: '1 to 255 visible ASCII characters; a repeat within 24 h gets the stored answer' },
        'X-Service-Session': { description: 'The session_id of the catalog answer that led here' },
    },
    answer: { shape: 'data', status: 202, schema: jobSchema({ result: true }) },
    refusals: [...ADMISSION_REFUSALS, 'RATE_LIMITED', 'OVERLOADED', 'SITE_UNAVAILABLE'],
});

/** GET /v1/jobs/{job_id}: the state of a job, or its end. */
export const getJob = contract<{ job_id: string }, WaitQuery, undefined, Job>({
    name: 'getJob',
    method: 'GET',
    path: '/v1/jobs/{job_id}',
    tag: TAG,
    summary: 'Read a job, or wait for its end',
    auth: 'required',
    scope: 'jobs',
    counted: false,
    params: jobParams(),
    query: waitQuery(),
    answer: { shape: 'data', status: 200, schema: jobSchema({ params: true, result: true }) },
    refusals: ONE,
});

/** GET /v1/jobs: the jobs of the workspace. */
export const getJobs = contract<object, JobsQuery, undefined, Job[]>({
    name: 'getJobs',
    method: 'GET',
    path: '/v1/jobs',
    tag: TAG,
    summary: 'List jobs',
    description: 'Newest first, without params and results. Items of batches are jobs too.',
    auth: 'required',
    scope: 'jobs',
    counted: false,
    query: Joi.object<JobsQuery, true>({
        status: jobStatus(),
        site: v.siteInput(),
        batch_id: Joi.string().max(100).description('Items of this batch alone'),
        limit: v.limit(),
        cursor: v.cursor(),
    }),
    answer: { shape: 'list', status: 200, schema: Joi.array().items(jobSchema()) },
    refusals: ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN', 'INVALID_CURSOR', 'INVALID_DOMAIN', 'RATE_LIMITED'],
});

/** DELETE /v1/jobs/{job_id}: cancels what was not sent as a write. */
export const deleteJob = contract<{ job_id: string }, object, undefined, Job>({
    name: 'deleteJob',
    method: 'DELETE',
    path: '/v1/jobs/{job_id}',
    tag: TAG,
    summary: 'Cancel a job',
    description: 'A queued job, or a running read, which is aborted and not billed. A cancelled one stays cancelled.',
    auth: 'required',
    scope: 'jobs',
    counted: false,
    params: jobParams(),
    answer: { shape: 'data', status: 200, schema: jobSchema({ params: true, result: true }) },
    refusals: [...ONE, 'JOB_NOT_CANCELLABLE'],
});

/** DELETE /v1/jobs/{job_id}/result: removes what the site answered, and the params. */
export const deleteJobResult = contract<{ job_id: string }, object, undefined, Job>({
    name: 'deleteJobResult',
    method: 'DELETE',
    path: '/v1/jobs/{job_id}/result',
    tag: TAG,
    summary: 'Delete the result and the params of a job that ended',
    description: 'At once, also the copy that max_age would serve. The job itself stays. One that has not ended stays as it is.',
    auth: 'required',
    scope: 'jobs',
    counted: false,
    params: jobParams(),
    answer: { shape: 'data', status: 200, schema: jobSchema({ params: true, result: true }) },
    refusals: ONE,
});
