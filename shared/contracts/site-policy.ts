import Joi from 'joi';
import { MAX_BLOCKED_PATHS, MAX_REQUESTS_PER_MINUTE, PATH_PREFIX, type SitePolicy, timezoneOf } from '../domain/site/site-policy.ts';
import { contract } from './contract.ts';

const timeOfDay = () =>
    Joi.string()
        .pattern(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day, such as 09:30')
        .required();

/** Omitted fields have their defaults, which block nothing. */
const policy = () => ({
    blocked: Joi.boolean().default(false).description('true: nothing of the domain can be called, looked up or published'),
    writes: Joi.boolean()
        .default(true)
        .description(
            'false: no write endpoint is called. A POST with effect read counts as a write unless you or an operator published its version',
        ),
    blocked_paths: Joi.array()
        .items(
            Joi.object({
                host: Joi.string().min(1).max(253).required().description('A host of the domain'),
                path_prefix: Joi.string()
                    .pattern(PATH_PREFIX, 'the beginning of a path in visible ASCII, such as /admin')
                    .required()
                    .description('Beginning of the path; case is ignored'),
            }),
        )
        .max(MAX_BLOCKED_PATHS)
        .default([]),
    requests_per_minute: Joi.number().integer().min(1).max(MAX_REQUESTS_PER_MINUTE).allow(null).default(null),
    hours: Joi.object({
        from: timeOfDay(),
        to: timeOfDay().description('If it is earlier than from, the window spans midnight'),
        timezone: Joi.string()
            .min(1)
            .max(64)
            .required()
            .custom((name: string, { error }) => timezoneOf(name) ?? error('timezone.unknown'))
            .messages({ 'timezone.unknown': '{{#label}} is not a time zone; use an IANA name such as Europe/Berlin' })
            .description('IANA name'),
    })
        .allow(null)
        .default(null)
        .description('When calls are allowed; at other times they get SITE_UNAVAILABLE with retry_after'),
});

export const getPolicy = contract('getPolicy', 'GET /v1/sites/{domain}/policy', {
    tag: 'Owners',
    summary: 'Show what you allow on your domain',
    description: 'Only for the proved owner of the domain.',
    scope: 'maintain',
    actsOnDomain: true,
    answer: { schema: () => Joi.object<SitePolicy>(policy()) },
    refusals: ['CLAIM_REQUIRED'],
});

export const putPolicy = contract('putPolicy', 'PUT /v1/sites/{domain}/policy', {
    tag: 'Owners',
    summary: 'Set what you allow on your domain',
    window: 'changes',
    description:
        'Only for the proved owner of the domain. Takes effect within a second. Replaces the previous policy: omitted rules are lifted. The strictest rule of owner, operator and package applies. Blocked calls get SITE_BLOCKED. If the proof is lost, the policy remains until a new owner or an operator changes it.',
    scope: 'maintain',
    actsOnDomain: true,
    body: { schema: Joi.object<SitePolicy>(policy()) },
    answer: { schema: () => Joi.object<SitePolicy>(policy()) },
    refusals: ['CLAIM_REQUIRED'],
});
