import Joi from 'joi';
import { MOST_BLOCKED_PATHS, MOST_REQUESTS_PER_MINUTE, PATH_PREFIX, type SitePolicy, timezoneOf } from '../domain/site/site-policy.ts';
import type { DomainParams } from './claims.ts';
import { BODY_BYTES, contract } from './contract.ts';
import * as v from './vocabulary.ts';

const domainParams = () => Joi.object<DomainParams, true>({ domain: v.siteInput().required() });
const timeOfDay = () =>
    Joi.string()
        .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
        .required();

/** What is left out has its default: nothing is blocked. */
const policy = () => ({
    blocked: Joi.boolean().default(false).description('Nothing of the domain is called, looked up or published'),
    writes: Joi.boolean()
        .default(true)
        .description(
            'False: no endpoint that may change the site is called; a POST that is said to read counts, unless you or an operator published its version',
        ),
    blocked_paths: Joi.array()
        .items(
            Joi.object({
                host: Joi.string().min(1).max(253).required().description('A host of the domain'),
                path_prefix: Joi.string().pattern(PATH_PREFIX).required().description('Beginning of the path; capitals do not matter'),
            }),
        )
        .max(MOST_BLOCKED_PATHS)
        .default([]),
    requests_per_minute: Joi.number().integer().min(1).max(MOST_REQUESTS_PER_MINUTE).allow(null).default(null),
    hours: Joi.object({
        from: timeOfDay(),
        to: timeOfDay().description('Over midnight where it is before from'),
        timezone: Joi.string()
            .min(1)
            .max(64)
            .required()
            .custom((name: string, { error }) => timezoneOf(name) ?? error('timezone.unknown'))
            .messages({ 'timezone.unknown': '{{#label}} is no time zone; give an IANA name such as Europe/Berlin' })
            .description('IANA name'),
    })
        .allow(null)
        .default(null)
        .description('When calls are welcome; outside SITE_UNAVAILABLE with retry_after'),
});

const refusals = ['INVALID_DOMAIN', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'CLAIM_REQUIRED', 'FORBIDDEN'] as const;

/** GET /v1/sites/{domain}/policy: what the owner allows. */
export const getPolicy = contract<DomainParams, object, undefined, SitePolicy>({
    name: 'getPolicy',
    method: 'GET',
    path: '/v1/sites/{domain}/policy',
    tag: 'Owners',
    summary: 'Show what you allow on your domain',
    description: 'For the proved owner of the domain.',
    auth: 'required',
    scope: 'maintain',
    actsOnDomain: true,
    counted: false,
    params: domainParams(),
    answer: { shape: 'data', status: 200, schema: Joi.object<SitePolicy>(policy()) },
    refusals: [...refusals],
});

/** PUT /v1/sites/{domain}/policy: sets what the owner allows. */
export const putPolicy = contract<DomainParams, object, SitePolicy, SitePolicy>({
    name: 'putPolicy',
    method: 'PUT',
    path: '/v1/sites/{domain}/policy',
    tag: 'Owners',
    summary: 'Say what you allow on your domain',
    description:
        'For the proved owner of the domain; effective within a second. It replaces what was there: what is left out is allowed again. Of owner, operator and package the strictest holds. Blocked is SITE_BLOCKED. It stays when the proof is lost, until a new owner or an operator changes it.',
    auth: 'required',
    scope: 'maintain',
    actsOnDomain: true,
    counted: false,
    params: domainParams(),
    body: { schema: Joi.object<SitePolicy>(policy()), maxBytes: BODY_BYTES, guard: true },
    answer: { shape: 'data', status: 200, schema: Joi.object<SitePolicy>(policy()) },
    refusals: [...refusals, 'INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
});
