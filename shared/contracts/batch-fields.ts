import Joi from 'joi';
import { BATCH_EXPIRY } from '../domain/jobs/bounds.ts';
import {
    BATCH_STATUSES,
    type BatchStatus,
    JOB_STATUSES,
    type JobStatus,
    PAUSED_REASONS,
    type PausedReason,
    WAITING_FOR,
    type WaitingFor,
} from '../domain/jobs/states.ts';
import type { JsonObject } from '../domain/types.ts';
import { type FetchRequest, fetchFields } from './fetch.ts';
import { type Job, type Metadata, metadata } from './jobs.ts';
import * as v from './vocabulary.ts';

/** Defaults for all items; an item may override each. */
export interface BatchDefaults
    extends Pick<FetchRequest, 'version' | 'timeout_ms' | 'max_results' | 'max_age' | 'max_credits' | 'connection'> {
    site?: string;
    endpoint?: string;
}

export interface BatchItem extends BatchDefaults {
    params?: JsonObject;
    custom_id?: string;
}

export interface BatchFields {
    name?: string;
    defaults?: BatchDefaults;
    max_credits?: number;
    stop_after_failures?: number;
    expires_in?: number;
    metadata?: Metadata;
}

export interface BatchRequest extends BatchFields {
    items: BatchItem[];
}

/** With an ndjson body, the query carries the fields of the batch; `metadata` as JSON. */
export interface BatchQuery extends Omit<BatchFields, 'defaults' | 'metadata'>, Omit<BatchDefaults, 'max_credits'> {
    dry_run?: boolean;
    metadata?: string;
}

export interface Batch {
    batch_id: string;
    name: string | null;
    status: BatchStatus;
    counts: Record<'total' | JobStatus, number>;
    credits: { used: number; max: number };
    waiting_for: WaitingFor | null;
    paused_reason: PausedReason | null;
    created_at: string;
    finished_at: string | null;
    expires_at: string;
    metadata: Metadata;
    eta_seconds: number | null;
    warnings?: string[];
    retried?: number;
}

export interface BatchesQuery extends v.PageQuery {
    status?: BatchStatus;
}

export interface ResultsQuery {
    status?: JobStatus;
    after?: string;
    limit?: number;
}

export interface EndedItem extends Job {
    cursor: string;
}

export interface RetryRequest {
    codes?: string[];
}

export type ResumeRequest = Pick<BatchFields, 'max_credits' | 'stop_after_failures'>;

export const maxCredits = () => v.integer(1, 1_000_000_000_000);
export const stopAfterFailures = () => v.integer(1, 1_000_000);

export const defaultFields = () => {
    const { site, endpoint, ...others } = fetchFields();
    const { version, timeout_ms, max_results, max_age, max_credits, connection } = others;
    return { site: site.optional(), endpoint: endpoint.optional(), version, timeout_ms, max_results, max_age, max_credits, connection };
};

export const batchItem = Joi.object<BatchItem, true>({
    ...defaultFields(),
    params: fetchFields().params,
    custom_id: Joi.string()
        // A name instead of messages, which Joi would merge for each item (7 % of the CPU of a line).
        .pattern(/^[\x21-\x7e]{1,64}$/, '1 to 64 visible ASCII characters')
        .description('Your own id of the item, unique in the batch'),
});

export const ownFields = () => ({
    name: v.characters(200),
    max_credits: maxCredits().description('The batch pauses before it would cost more'),
    stop_after_failures: stopAfterFailures().description('The batch pauses when this many items have failed for good'),
    expires_in: v
        .integer(BATCH_EXPIRY.min, BATCH_EXPIRY.max)
        .description(`Seconds until the batch expires; ${BATCH_EXPIRY.fallback} by default`),
});
export const fields = () => ({
    ...ownFields(),
    defaults: Joi.object<BatchDefaults, true>(defaultFields()).description('Defaults for all items; an item may override each'),
    metadata: metadata(),
});

/** A batch whose items are validated separately. */
export const batchEnvelope = Joi.object<BatchRequest, true>({ ...fields(), items: Joi.array().required() });

export const batchFields = () =>
    ({
        batch_id: v.id('bat'),
        name: Joi.string().allow(null),
        status: v.oneOf(BATCH_STATUSES),
        counts: v.complete(Object.fromEntries(['total', ...JOB_STATUSES].map((name) => [name, v.count()]))),
        credits: { used: v.count(), max: v.count() },
        waiting_for: Joi.string()
            .valid(...WAITING_FOR, null)
            .description('Why queued items do not start; null: they wait for a worker, or nothing is queued'),
        paused_reason: Joi.string().valid(...PAUSED_REASONS, null),
        created_at: v.time(),
        finished_at: v.nullableTime(),
        expires_at: v.time(),
        metadata: metadata(),
        eta_seconds: v
            .count()
            .allow(null)
            .description('Estimated seconds until the end, from limits alone; null unless the batch is running'),
    }) as Joi.StrictSchemaMap<Batch>;
export const batchSchema = () => v.complete<Batch>(batchFields());
export const warnings = () => v.texts().description('EXPIRES_BEFORE_END: at the current limits some items would expire before they start');

export interface BatchDryRun {
    items: number;
    credits: { max: number };
    eta_seconds: number | null;
    warnings: string[];
}
