import Joi from 'joi';
import type { Fault, Retryable } from '../refusals.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface Category {
    slug: string;
    name: string;
    children: { slug: string; name: string; path: string }[];
}

export const getCategories = contract({
    name: 'getCategories',
    route: 'GET /v1/categories',
    tag: 'Discovery',
    summary: 'Read the intent taxonomy',
    auth: 'optional',
    scope: 'none',
    answer: {
        schema: () =>
            v.listOf(
                Joi.object<Category, true>({
                    slug: Joi.string().required(),
                    name: Joi.string().required(),
                    children: Joi.array()
                        .items(Joi.object({ slug: Joi.string().required(), name: Joi.string().required(), path: Joi.string().required() }))
                        .required(),
                }),
            ),
    },
    cacheSeconds: 3600,
});

export interface ErrorEntry {
    code: string;
    status: number;
    fault: Fault;
    retryable: Retryable;
    meaning: string;
}

export const getErrors = contract({
    name: 'getErrors',
    route: 'GET /v1/errors',
    tag: 'Discovery',
    summary: 'List every error code',
    auth: 'ignored',
    scope: 'none',
    answer: {
        schema: () =>
            v.listOf(
                Joi.object<ErrorEntry, true>({
                    code: Joi.string().required(),
                    status: Joi.number().integer().required(),
                    fault: Joi.string().valid('caller', 'service', 'upstream', 'schema').required(),
                    retryable: Joi.alternatives(Joi.boolean(), Joi.string().valid('reads')).required(),
                    meaning: Joi.string().required(),
                }),
            ),
    },
    cacheSeconds: 3600,
});

type Check = 'ok' | 'down';

export interface HealthAnswer {
    status: 'ok' | 'degraded';
    version: string;
    checks: { database: Check; queue: Check; workers: Check };
}

const check = () => Joi.string().valid('ok', 'down').required();

export const getHealth = contract({
    name: 'getHealth',
    route: 'GET /v1/health',
    tag: 'Discovery',
    summary: 'Check the health of the service',
    description:
        '`ok`: every worker serves fetches. `degraded`: some workers accept no calls, and the others serve all of them. If no fetch can be served, the answer is 503 with `unavailable`; browsing continues as long as it can.',
    auth: 'ignored',
    scope: 'none',
    answer: {
        schema: () =>
            Joi.object<HealthAnswer, true>({
                status: Joi.string().valid('ok', 'degraded').required(),
                version: Joi.string().required(),
                checks: Joi.object({ database: check(), queue: check(), workers: check() }).required(),
            }),
    },
});

export const getOpenApi = contract({
    name: 'getOpenApi',
    route: 'GET /v1/openapi.json',
    tag: 'Discovery',
    summary: 'Read this OpenAPI document',
    auth: 'ignored',
    scope: 'none',
    answer: { shape: 'whole', schema: () => Joi.object<object>().unknown(true) },
    cacheSeconds: 300,
});
