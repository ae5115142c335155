import Joi from 'joi';
import type { RefusalEntry } from '../refusals.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface Category {
    slug: string;
    name: string;
    children: { slug: string; name: string; path: string }[];
}

export const getCategories = contract('getCategories', 'GET /v1/categories', {
    tag: 'Discovery',
    summary: 'Read the intent taxonomy',
    auth: 'optional',
    scope: 'none',
    answer: {
        schema: () =>
            v.objects<Category>({
                slug: Joi.string(),
                name: Joi.string(),
                children: v.objects({ slug: Joi.string(), name: Joi.string(), path: Joi.string() }),
            }),
    },
    cacheSeconds: 3600,
});

export interface ErrorEntry extends RefusalEntry {
    code: string;
}

export const getErrors = contract('getErrors', 'GET /v1/errors', {
    tag: 'Discovery',
    summary: 'List every error code',
    auth: 'ignored',
    scope: 'none',
    answer: {
        schema: () =>
            v.objects<ErrorEntry>({
                code: Joi.string(),
                status: Joi.number().integer(),
                fault: Joi.string().valid('caller', 'service', 'upstream', 'schema'),
                retryable: Joi.alternatives(Joi.boolean(), Joi.string().valid('reads')),
                meaning: Joi.string(),
            }),
    },
    cacheSeconds: 3600,
});

type Check = 'ok' | 'down';

export interface HealthAnswer {
    status: 'ok' | 'degraded';
    version: string;
    checks: { database: Check; queue: Check; workers: Check };
}

const check = () => Joi.string().valid('ok', 'down');

export const getHealth = contract('getHealth', 'GET /v1/health', {
    tag: 'Discovery',
    summary: 'Check the health of the service',
    description:
        '`ok`: every worker serves fetches. `degraded`: some workers accept no calls, and the others serve all of them. If no fetch can be served, the answer is 503 with `unavailable`; browsing continues as long as it can.',
    auth: 'ignored',
    scope: 'none',
    answer: {
        schema: () =>
            v.complete<HealthAnswer>({
                status: Joi.string().valid('ok', 'degraded'),
                version: Joi.string(),
                checks: { database: check(), queue: check(), workers: check() },
            }),
    },
});

export const getOpenApi = contract('getOpenApi', 'GET /v1/openapi.json', {
    tag: 'Discovery',
    summary: 'Read this OpenAPI document',
    auth: 'ignored',
    scope: 'none',
    answer: { shape: 'whole', schema: () => Joi.object<object>().unknown(true) },
    cacheSeconds: 300,
});
