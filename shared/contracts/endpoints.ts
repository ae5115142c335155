import Joi from 'joi';
import type { Claim } from '../domain/site/claim.ts';
import type { BillingUnit, Effect, Json, JsonObject, Kind } from '../domain/types.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface EndpointsQuery extends v.PageQuery {
    task?: string;
    category?: string;
    kind?: Kind;
    effect?: Effect;
    site?: string;
    verified?: boolean;
    max_credits?: number;
    needs_connection?: boolean;
}

export interface FoundEndpoint {
    site: string;
    title: string;
    endpoint: string;
    kind: Kind;
    effect: Effect;
    description: string;
    required: { name: string; type: string; description: string; example: Json }[];
    optional: string[];
    returns: { fields: string[] };
    credits: number;
    billing_unit: BillingUnit;
    max_results: number | null;
    verified: boolean;
    verified_at: string | null;
    claim: Claim;
    health: { success_rate_7d: number | null; p95_ms: number | null };
    needs_connection: boolean;
    hosted: boolean;
    score: number | null;
    matched: string[];
    fetch: { site: string; endpoint: string; params: JsonObject; dry_run?: true } | null;
}

export interface FindMeta {
    session_id?: string;
    suggestion?: { request: JsonObject; missing?: ['domain'] };
}

/** Where the words of a task were found. */
export const MATCHED = ['endpoint', 'description', 'params', 'returns', 'site', 'category'] as const;

const found = Joi.object<FoundEndpoint, true>({
    site: v.siteName().required(),
    title: Joi.string().required(),
    endpoint: Joi.string().required(),
    kind: v.kind().required(),
    effect: v.effect().required(),
    description: Joi.string().allow('').required(),
    required: Joi.array()
        .items(
            Joi.object({
                name: Joi.string().required(),
                type: Joi.string().required(),
                description: Joi.string().allow('').required(),
                example: v.anyJson().required().description('null where the package gives none, or a long one'),
            }),
        )
        .required()
        .description('Params that a call has to give'),
    optional: Joi.array().items(Joi.string()).required().description('Names of the other params'),
    returns: Joi.object({ fields: Joi.array().items(Joi.string()).max(30).required() })
        .required()
        .description('Paths of what it returns, such as items[].title'),
    credits: v.count().required().description('What one unit costs through hosted fetch'),
    billing_unit: Joi.string().valid('request', 'result').required(),
    max_results: v.count().allow(null).required().description('Results that one call returns at most; null where requests are billed'),
    verified: Joi.boolean().required(),
    verified_at: v.nullableTime().required(),
    claim: v.claim().required(),
    health: Joi.object({
        success_rate_7d: Joi.number().min(0).max(1).allow(null).required(),
        p95_ms: v.count().allow(null).required(),
    }).required(),
    needs_connection: Joi.boolean().required().description('Whether a call needs credentials of your own for the site'),
    hosted: Joi.boolean().required().description('Whether POST /v1/fetch runs it'),
    score: Joi.number().min(0).max(1).allow(null).required().description('How well it fits the task; null without one'),
    matched: Joi.array()
        .items(Joi.string().valid(...MATCHED))
        .required()
        .description('Where the words of the task were found'),
    fetch: Joi.object({
        site: v.siteName().required(),
        endpoint: Joi.string().required(),
        params: v.jsonObject().required(),
        dry_run: Joi.boolean().valid(true),
    })
        .allow(null)
        .required()
        .description(
            'A body for POST /v1/fetch, from an example of the package; a write has dry_run. null where there is none, or it is not hosted',
        ),
});

/** GET /v1/endpoints: endpoints of all sites by what somebody wants to do. */
export const getEndpoints = contract<object, EndpointsQuery, undefined, FoundEndpoint[]>({
    name: 'getEndpoints',
    method: 'GET',
    path: '/v1/endpoints',
    tag: 'Discovery',
    summary: 'Find endpoints by task',
    description:
        'Say what you want to do in your own words; the endpoints of all sites that fit come best first, at most 200 deep, and at most three of a registrable domain in each ten. Where nothing fits the list is empty, and `meta.suggestion.request` is a body for POST /v1/schema-requests. Without `task`: all endpoints, those of the most used sites first. 60 questions a minute of one account, or without a key of one address. With a key the answer has `meta.session_id`: name it in X-Service-Session when you fetch what you chose.',
    auth: 'optional',
    scope: 'none',
    counted: false,
    query: Joi.object<EndpointsQuery, true>({
        task: Joi.string()
            .pattern(/^\s*\S[\s\S]{1,998}\S\s*$/u)
            .messages({ 'string.pattern.base': '{{#label}} takes 3 to 1000 characters', 'string.empty': '{{#label}} is empty' })
            .description('What you want to do, in any words of 3 to 1000 characters'),
        category: v.category(),
        kind: v.kind(),
        effect: v.effect(),
        site: v.siteInput(),
        verified: Joi.boolean().description('true: endpoints of verified schemas alone; false is the same as leaving it out'),
        max_credits: v.count().max(1_000_000_000).description('The most that one unit may cost'),
        needs_connection: Joi.boolean().description('Whether a call needs credentials of your own for the site'),
        limit: Joi.number().integer().min(1).max(50).default(10).description('Rows of one page at most'),
        cursor: v.cursor(),
    }),
    answer: {
        shape: 'list',
        status: 200,
        schema: Joi.array().items(found),
        meta: Joi.object<FindMeta, true>({
            session_id: Joi.string().description('With a key; for X-Service-Session of the fetch that follows'),
            suggestion: Joi.object({
                request: v.jsonObject().required().description('A body for POST /v1/schema-requests'),
                missing: Joi.array()
                    .ordered(Joi.string().valid('domain').required())
                    .description('What the body lacks still; absent where it is whole'),
            }).description('Where nothing fits the task'),
        }),
    },
    cacheSeconds: 60,
    personalWithKey: true,
    refusals: ['INVALID_DOMAIN', 'INVALID_CURSOR', 'INVALID_API_KEY', 'FORBIDDEN', 'RATE_LIMITED'],
});
