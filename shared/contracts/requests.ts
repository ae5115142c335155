import Joi from 'joi';
import {
    AUTH_SHAPES,
    FREQUENCIES,
    type NewRequest,
    READ_OR_WRITE,
    REQUEST_STATUSES,
    type RequestStatus,
} from '../domain/site/schema-request.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface RequestOrder {
    domain: string;
    task: string;
    read_or_write?: NonNullable<NewRequest['readOrWrite']>;
    auth_shape?: NonNullable<NewRequest['authShape']>;
    output_shape?: string;
    failure_mode?: string;
    intent_category?: string;
    source_url?: string;
    frequency?: NonNullable<NewRequest['frequency']>;
    requester_contact?: string;
}

export interface RequestCreated {
    request_id: string;
    domain: string;
    status: 'open';
    demand: number;
    created_at: string;
}

export interface RequestAnswer extends Omit<RequestCreated, 'status'> {
    task: string;
    read_or_write: NewRequest['readOrWrite'];
    auth_shape: NewRequest['authShape'];
    output_shape: string | null;
    failure_mode: string | null;
    intent_category: string | null;
    frequency: NewRequest['frequency'];
    status: RequestStatus;
    updated_at: string;
    fulfilled_by: { site: string; version: number } | null;
    history: { status: RequestStatus; at: string }[];
}

const demand = () => v.count().description('Open requests for this domain');
const status = () => v.oneOf(REQUEST_STATUSES);

export const postSchemaRequest = contract('postSchemaRequest', 'POST /v1/schema-requests', {
    tag: 'Requests',
    summary: 'Ask for a schema',
    description:
        'Describe the workflow that is brittle today. Publishing a schema for the domain fulfils the request. Accepts 5 requests an hour per address without an API key, and 30 an hour per account with one. Never include cookies, keys or tokens: everybody who has the id can read the request, except the contact.',
    auth: 'optional',
    scope: 'none',
    idempotent: true,
    body: {
        schema: Joi.object<RequestOrder, true>({
            domain: v.siteInput().required(),
            task: v.publicText(20, 4000, { lines: true }).required().description('The workflow that is brittle today'),
            read_or_write: v.oneOf(READ_OR_WRITE),
            auth_shape: v.oneOf(AUTH_SHAPES).description('How the workflow signs in'),
            output_shape: v.publicText(1, 4000, { lines: true }).description('The output that you need'),
            failure_mode: v.publicText(1, 4000, { lines: true }).description('How it fails today'),
            intent_category: v.category(),
            source_url: v.webAddress().description('The page where the workflow begins: an http or https URL'),
            frequency: v.oneOf(FREQUENCIES),
            requester_contact: v.publicText(1, 320).description('How to contact you; only the operator sees it'),
        }),
        guard: 'lines',
    },
    headers: {
        'Idempotency-Key': {
            description: '1 to 255 visible ASCII characters; a repeat within 24 h gets the stored answer. Ignored without a key',
        },
    },
    answer: {
        status: 201,
        schema: () =>
            v.complete<RequestCreated>({
                request_id: v.id('srq'),
                domain: v.siteName(),
                status: Joi.string().valid('open'),
                demand: demand(),
                created_at: v.time(),
            }),
    },
    refusals: ['INVALID_DOMAIN', 'RATE_LIMITED', 'OVERLOADED'],
});

export const getSchemaRequest = contract('getSchemaRequest', 'GET /v1/schema-requests/{request_id}', {
    tag: 'Requests',
    summary: 'Read the state of a schema request',
    auth: 'optional',
    scope: 'none',
    answer: {
        schema: () =>
            v.complete<RequestAnswer>({
                request_id: v.id('srq'),
                domain: v.siteName(),
                task: Joi.string(),
                read_or_write: Joi.string().valid(...READ_OR_WRITE, null),
                auth_shape: Joi.string().valid(...AUTH_SHAPES, null),
                output_shape: Joi.string().allow(null),
                failure_mode: Joi.string().allow(null),
                intent_category: Joi.string().allow(null),
                frequency: Joi.string().valid(...FREQUENCIES, null),
                status: status(),
                demand: demand(),
                created_at: v.time(),
                updated_at: v.time(),
                fulfilled_by: v.complete({ site: v.siteName(), version: v.versionNumber() }).allow(null),
                history: v.objects({ status: status(), at: v.time() }),
            }),
    },
});
