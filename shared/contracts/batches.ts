import Joi from 'joi';
import { BATCH_BODIES, RESULTS_PAGE } from '../domain/jobs/bounds.ts';
import { BATCH_STATUSES, JOB_STATUSES } from '../domain/jobs/states.ts';
import { REFUSALS } from '../refusals.ts';
import {
    type Batch,
    type BatchDryRun,
    type BatchesQuery,
    type BatchQuery,
    type BatchRequest,
    batchFields,
    batchItem,
    batchSchema,
    defaultFields,
    type EndedItem,
    fields,
    maxCredits,
    ownFields,
    type ResultsQuery,
    type ResumeRequest,
    type RetryRequest,
    stopAfterFailures,
    warnings,
} from './batch-fields.ts';
import { contract } from './contract.ts';
import { CALL_HEADERS } from './fetch.ts';
import { jobFields, waitQuery } from './jobs.ts';
import * as v from './vocabulary.ts';

const COMMON = { tag: 'Jobs', scope: 'jobs', window: 'reads' } as const;
const { json, lines } = BATCH_BODIES;

export const postBatch = contract('postBatch', 'POST /v1/batches', {
    ...COMMON,
    summary: 'Queue many calls as a batch',
    description: `All items are validated before anything is stored. One invalid item rejects the batch; details list the first 100 problems. Send up to ${json.items.toLocaleString('en')} items as JSON, or ${lines.items.toLocaleString('en')} as application/x-ndjson, one item per line, with the other fields in the query.`,
    idempotent: true,
    window: 'batches',
    countsRefused: true,
    query: Joi.object<BatchQuery, true>({
        dry_run: Joi.boolean().description('Validates and prices all items and stores nothing'),
        ...ownFields(),
        ...(({ max_credits: _, ...others }) => others)(defaultFields()),
        metadata: Joi.string().max(16_384).description('JSON. This and all other parameters except dry_run are for ndjson bodies only'),
    }),
    body: {
        schema: Joi.object<BatchRequest, true>({ ...fields(), items: Joi.array().items(batchItem).min(1).max(json.items).required() }),
        maxBytes: json.bytes,
        hasParams: true,
        isStreamed: true,
        lines: 'One item a line; blank lines are skipped',
    },
    headers: CALL_HEADERS,
    answer: {
        status: 202,
        alsoStatus: [200],
        schema: () =>
            Joi.alternatives<Batch | BatchDryRun>(
                v.complete<Batch>({ ...batchFields(), warnings: warnings() }),
                v
                    .complete<BatchDryRun>({
                        items: v.count(),
                        credits: { max: v.count() },
                        eta_seconds: v.count().allow(null),
                        warnings: warnings(),
                    })
                    .description('Of a dry run'),
            ),
    },
    refusals: ['INSUFFICIENT_CREDITS', 'EMAIL_NOT_VERIFIED'],
});

export const getBatch = contract('getBatch', 'GET /v1/batches/{batch_id}', {
    ...COMMON,
    summary: 'Read a batch, or wait for its end',
    query: waitQuery(),
    answer: { schema: () => batchSchema() },
});

export const getBatches = contract('getBatches', 'GET /v1/batches', {
    ...COMMON,
    summary: 'List batches',
    description: 'Newest first.',
    query: Joi.object<BatchesQuery, true>({ status: v.oneOf(BATCH_STATUSES), limit: v.limit(), cursor: v.cursor() }),
    answer: { shape: 'list', schema: () => v.listOf(batchSchema()) },
});

export const getBatchResults = contract('getBatchResults', 'GET /v1/batches/{batch_id}/results', {
    ...COMMON,
    summary: 'Read the ended items',
    description:
        'In the order in which they ended. Continue with the cursor of the last item to miss none. `next_cursor` is null only when the batch has ended and everything was read. A retried item leaves the list and reappears when it ends again: keep the latest entry of each job_id. With Accept: application/x-ndjson the items are streamed, one per line.',
    query: Joi.object<ResultsQuery, true>({
        status: Joi.string().valid(...JOB_STATUSES.filter((status) => status !== 'queued' && status !== 'running')),
        after: v.cursor().description('The cursor of the last item that was read, or next_cursor'),
        limit: v
            .integer(1, RESULTS_PAGE.max)
            .description(
                `Maximum number of items per page, ${RESULTS_PAGE.fallback} by default; fewer if they are large. With ndjson all items by default`,
            ),
    }),
    answer: {
        shape: 'list',
        schema: () => v.objects<EndedItem>({ ...jobFields({ result: true }), cursor: Joi.string() }),
        lines: 'One item a line, as in data',
    },
});

const CHANGE = {
    ...COMMON,
    answer: { schema: () => batchSchema() },
    refusals: ['BATCH_NOT_OPEN'],
} as const;

export const postBatchPause = contract('postBatchPause', 'POST /v1/batches/{batch_id}/pause', {
    ...CHANGE,
    summary: 'Pause a batch',
    description: 'No further item starts. The expiry does not move.',
});

export const postBatchResume = contract('postBatchResume', 'POST /v1/batches/{batch_id}/resume', {
    ...CHANGE,
    summary: 'Resume a batch',
    description: 'Items then run with the rights of the calling key. The body may set new limits.',
    body: {
        schema: Joi.object<ResumeRequest, true>({ max_credits: maxCredits(), stop_after_failures: stopAfterFailures() }),
        mayBeEmpty: true,
    },
});

/** A misspelt code would silently retry nothing. */
const errorCode = () => v.oneOf([...REFUSALS.keys()]).messages({ 'any.only': '{{#label}} is no error code; GET /v1/errors lists them' });

export const postBatchRetry = contract('postBatchRetry', 'POST /v1/batches/{batch_id}/retry', {
    ...CHANGE,
    summary: 'Retry items that did not succeed',
    window: 'batches',
    countsRefused: true,
    description:
        'Retries failed, expired and cancelled items that were never sent as writes; with codes, only failed items with one of them. They run with the rights of the calling key, at current prices, and the batch gets a new expires_at.',
    body: { schema: Joi.object<RetryRequest, true>({ codes: Joi.array().items(errorCode()).max(100) }), mayBeEmpty: true },
    answer: { schema: () => v.complete<Batch>({ ...batchFields(), retried: v.count() }) },
});

export const deleteBatch = contract('deleteBatch', 'DELETE /v1/batches/{batch_id}', {
    ...COMMON,
    summary: 'Cancel a batch',
    description:
        'Cancels queued items at once, and aborts running reads, which are not billed. The batch is cancelling until running writes have ended.',
    answer: { schema: () => batchSchema() },
    refusals: ['BATCH_NOT_OPEN'],
});
