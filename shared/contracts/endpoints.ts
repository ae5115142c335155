import Joi from 'joi';
import { WORD_FIELDS, type WordField } from '../domain/find/endpoint-words.ts';
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
    matched: WordField[];
    fetch: { site: string; endpoint: string; params: JsonObject; dry_run?: true } | null;
}

export interface FindMeta {
    session_id?: string;
    suggestion?: { request: JsonObject; missing?: ['domain'] };
}

const found = () =>
    v.complete<FoundEndpoint>({
        site: v.siteName(),
        title: Joi.string(),
        endpoint: Joi.string(),
        kind: v.kind(),
        effect: v.effect(),
        description: Joi.string().allow(''),
        required: v
            .listOf(
                v.complete({
                    name: Joi.string(),
                    type: Joi.string(),
                    description: Joi.string().allow(''),
                    example: v.anyJson().description('null if the package has none, or only a long one'),
                }),
            )
            .description('Required params'),
        optional: v.texts().description('Names of the optional params'),
        returns: v.complete({ fields: v.texts().max(30) }).description('Paths of the returned fields, such as items[].title'),
        credits: v.count().description('Price of one unit in a hosted fetch'),
        billing_unit: Joi.string().valid('request', 'result'),
        max_results: v.count().allow(null).description('Maximum number of results per call; null if billed per request'),
        verified: Joi.boolean(),
        verified_at: v.nullableTime(),
        claim: v.claim(),
        health: { success_rate_7d: Joi.number().min(0).max(1).allow(null), p95_ms: v.count().allow(null) },
        needs_connection: Joi.boolean().description('Whether a call needs your own credential for the site'),
        hosted: Joi.boolean().description('Whether POST /v1/fetch can call it'),
        score: Joi.number().min(0).max(1).allow(null).description('How well it matches the task; null without a task'),
        matched: v.listOf(v.oneOf(WORD_FIELDS)).description('The fields that contain words of the task'),
        fetch: v
            .complete({
                site: v.siteName(),
                endpoint: Joi.string(),
                params: v.jsonObject(),
                dry_run: Joi.boolean().valid(true).optional(),
            })
            .allow(null)
            .description(
                'A body for POST /v1/fetch, from an example of the package; for writes with dry_run. null if there is no example or the endpoint is not hosted',
            ),
    });

export const getEndpoints = contract('getEndpoints', 'GET /v1/endpoints', {
    tag: 'Discovery',
    summary: 'Find endpoints by task',
    description:
        'Describe what you want to do. Returns matching endpoints of all sites, best first: at most 200, and at most three of one registrable domain in every ten. If nothing matches, the list is empty and `meta.suggestion.request` is a body for POST /v1/schema-requests. Without `task`: all endpoints, most used sites first. 60 searches a minute per account, or per address without a key. With a key the answer has `meta.session_id`: send it as X-Service-Session when you fetch the endpoint that you chose.',
    auth: 'optional',
    scope: 'none',
    query: Joi.object<EndpointsQuery, true>({
        task: Joi.string()
            .pattern(/^\s*\S[\s\S]{1,998}\S\s*$/u)
            .messages({ 'string.pattern.base': '{{#label}} must have 3 to 1000 characters', 'string.empty': '{{#label}} is empty' })
            .description('What you want to do, in 3 to 1000 characters'),
        category: v.category(),
        kind: v.kind(),
        effect: v.effect(),
        site: v.siteInput(),
        verified: Joi.boolean().description('true: only endpoints of verified schemas; false has no effect'),
        max_credits: v.count().max(1_000_000_000).description('Highest price of one unit'),
        needs_connection: Joi.boolean().description('Whether a call needs your own credential for the site'),
        limit: v.integer(1, 50).default(10).description('Maximum number of rows per page'),
        cursor: v.cursor(),
    }),
    answer: {
        shape: 'list',
        schema: () => v.listOf(found()),
        meta: v.complete<FindMeta>({
            session_id: Joi.string().description('Only with a key. Send it as X-Service-Session of the following fetch').optional(),
            suggestion: v
                .complete({
                    request: v.jsonObject().description('A body for POST /v1/schema-requests'),
                    missing: Joi.array()
                        .ordered(Joi.string().valid('domain').required())
                        .description('Fields that you must add to the body; absent if it is complete')
                        .optional(),
                })
                .description('Present if nothing matches the task')
                .optional(),
        }),
    },
    cacheSeconds: 60,
    personalWithKey: true,
    refusals: ['INVALID_DOMAIN', 'RATE_LIMITED'],
});
