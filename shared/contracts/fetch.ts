import Joi from 'joi';
import { PAGINATION_ENDS, type PaginationEnd } from '../domain/fetch/pages.ts';
import type { JsonObject } from '../domain/types.ts';
import type { RefusalCode } from '../refusals.ts';
import { CALL_BYTES } from './body-bytes.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface FetchRequest {
    site: string;
    endpoint: string;
    params?: JsonObject;
    version?: number | string;
    timeout_ms?: number;
    max_credits?: number;
    max_results?: number;
    max_pages?: number;
    cursor?: string;
    partial?: boolean;
    max_age?: number;
    dry_run?: boolean;
    connection?: string;
}

/** Why the next page failed, in an answer with `partial`. */
export interface PartialError {
    code: RefusalCode;
    message: string;
    retryable: boolean;
    upstream?: { status: number; snippet: string } | undefined;
}

export interface FetchMeta {
    credits_used: number;
    credits_remaining: number;
    request_id: string;
    site: string;
    endpoint: string;
    version: number;
    results?: number;
    truncated?: boolean;
    pagination_end?: PaginationEnd | undefined;
    next_cursor?: string | undefined;
    partial_error?: PartialError | undefined;
    cached?: boolean;
    duration_ms: number;
    queue_ms?: number;
    upstream?: { status: number; attempts: number; duration_ms: number; bytes: number };
}

export interface FetchAnswer {
    success: true;
    data: JsonObject;
    meta: FetchMeta;
}

const NO_VERSION = '{{#label}} must be the number of a version, such as 3, or its hash';

export const fetchFields = () => ({
    site: v.siteInput().required(),
    endpoint: Joi.string().min(1).max(1024).required().description("Name of one of the site's endpoints"),
    params: v
        .jsonObject()
        .description(
            "Parameter name to value, by the endpoint's parameter contract. A file of a multipart endpoint is {filename, content_type, base64}; the files of a call have at most 1 MiB in all",
        ),
    version: Joi.alternatives(v.versionNumber(), v.versionHash())
        .messages({ 'string.pattern.name': NO_VERSION, 'string.empty': NO_VERSION, 'alternatives.types': NO_VERSION })
        .description('Number or hash of a version; the latest by default'),
    timeout_ms: v.integer(1000, 120_000).description("The caller's whole wait; FETCH_TIMEOUT_MS by default"),
    max_credits: v.integer(1, 1_000_000_000).description('Spending cap of this call'),
    max_results: v.integer(1, 1000),
    max_pages: v.integer(1, 20).description("For endpoints with pages: can only lower the package's limit"),
    cursor: Joi.string()
        .min(1)
        .max(8192)
        .description(
            'meta.next_cursor of a call with the same site, endpoint, params and connection within 24 h; the call continues there',
        ),
    partial: Joi.boolean().description('For endpoints with pages: if a page after the first fails, return the pages before it'),
    max_age: v
        .integer(0, 86_400)
        .description('In seconds: a stored result of the same call, at most this old, may be returned for 0 credits'),
    connection: Joi.string()
        .max(100)
        .description('Id of a connection, or "default": your only one for the site, which is also used if the endpoint requires one'),
});

const request = Joi.object<FetchRequest, true>({
    ...fetchFields(),
    dry_run: Joi.boolean().description('Validate, build and price the call; send and charge nothing'),
});

const meta = () =>
    v.complete<FetchMeta>({
        credits_used: v.count(),
        credits_remaining: v.count(),
        request_id: v.requestId(),
        site: v.siteName(),
        endpoint: Joi.string(),
        version: v.versionNumber(),
        results: v.count().optional(),
        truncated: Joi.boolean().optional(),
        pagination_end: v
            .oneOf(PAGINATION_ENDS)
            .description('Why the reading of pages ended: after the last page, or at a limit')
            .optional(),
        next_cursor: Joi.string().description('Pass it as cursor within 24 h to continue').optional(),
        partial_error: v
            .complete<PartialError>({
                code: Joi.string(),
                message: Joi.string(),
                retryable: Joi.boolean(),
                upstream: v.complete({ status: Joi.number().integer(), snippet: Joi.string().allow('') }).optional(),
            })
            .description('Only with partial: why the page at next_cursor failed')
            .optional(),
        cached: Joi.boolean()
            .description(
                'true: a stored result that this account already paid for, returned because of max_age; queue_ms and upstream are absent',
            )
            .optional(),
        duration_ms: v.count(),
        queue_ms: v.count().optional(),
        upstream: v.complete({ status: Joi.number().integer(), attempts: v.count(), duration_ms: v.count(), bytes: v.count() }).optional(),
    });

/** Error codes of a call before credits are held or anything is sent. */
export const ADMISSION_REFUSALS = [
    'INVALID_JSON',
    'INVALID_DOMAIN',
    'INVALID_PARAMS',
    'INVALID_CURSOR',
    'INSUFFICIENT_CREDITS',
    'SITE_BLOCKED',
    'FORBIDDEN',
    'EMAIL_NOT_VERIFIED',
    'SITE_NOT_FOUND',
    'ENDPOINT_NOT_FOUND',
    'VERSION_NOT_FOUND',
    'CONNECTION_NOT_FOUND',
    'ENDPOINT_NOT_HOSTED',
    'CONNECTION_REQUIRED',
    'CONNECTION_REJECTED',
] as const satisfies readonly RefusalCode[];

/** Error codes of a call that is sent to its site. */
export const UPSTREAM_REFUSALS = [
    'CONCURRENCY_LIMITED',
    'SITE_BUSY',
    'UPSTREAM_STATUS',
    'UPSTREAM_UNREACHABLE',
    'UPSTREAM_BLOCKED',
    'UPSTREAM_INVALID_RESPONSE',
    'UPSTREAM_TOO_LARGE',
    'UPSTREAM_REDIRECT',
    'EGRESS_DENIED',
    'SITE_UNAVAILABLE',
    'UPSTREAM_RATE_LIMITED',
    'UPSTREAM_TIMEOUT',
    'DEADLINE_EXCEEDED',
] as const satisfies readonly RefusalCode[];

/** Request headers of the routes that make calls. */
export const CALL_HEADERS = {
    'Idempotency-Key': { description: '1 to 255 visible ASCII characters; a repeat within 24 h gets the stored answer' },
    'X-Service-Session': { description: 'The session_id of the catalog answer that led here' },
};

export const postFetch = contract('postFetch', 'POST /v1/fetch', {
    tag: 'Fetch',
    summary: 'Run an endpoint through Routebook',
    description: 'Holds the highest possible cost, makes the call, then charges the exact cost. If the call fails, the hold is released.',
    scope: 'fetch',
    counted: true,
    idempotent: true,
    body: { schema: request, maxBytes: CALL_BYTES, hasParams: true },
    headers: CALL_HEADERS,
    answer: {
        shape: 'whole',
        schema: () => v.complete<FetchAnswer>({ success: Joi.boolean().valid(true), data: v.jsonObject(), meta: meta() }),
    },
    refusals: [...ADMISSION_REFUSALS, 'SPENDING_LIMIT', ...UPSTREAM_REFUSALS, 'UPSTREAM_UNAUTHORIZED', 'OUTCOME_UNKNOWN'],
});
