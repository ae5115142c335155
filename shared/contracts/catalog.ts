import Joi from 'joi';
import type { Claim } from '../domain/site/claim.ts';
import type {
    AuthNeed,
    BillingUnit,
    BodyFormat,
    Effect,
    Json,
    JsonObject,
    JsonSchema,
    Kind,
    Method,
    PackageAuth,
    PackageStep,
    ParamSource,
    ParamStyle,
} from '../domain/types.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface CatalogParam {
    name: string;
    source: ParamSource;
    required: boolean;
    description: string;
    schema?: JsonSchema;
    default?: Json;
    style?: ParamStyle;
    segments?: true;
}

export interface CatalogEndpoint {
    name: string;
    method: Method;
    url: string;
    headers: Record<string, string>;
    kind: Kind;
    description: string;
    params: CatalogParam[];
    body_format?: BodyFormat;
    body?: Json;
    body_required?: false;
    prepare?: PackageStep | PackageStep[];
    hosted: boolean;
    effect: Effect;
    auth: AuthNeed;
    returns?: JsonSchema;
    returns_truncated?: true;
    billing: { unit: BillingUnit; results?: string; max_results?: number };
    credits: number;
    credits_max: number;
    pagination: { max_pages: number } | null;
    examples: { params: JsonObject }[];
    health: v.Health;
}

export interface CatalogAnswer {
    success: true;
    domain: string;
    session_id: string;
    endpoints: CatalogEndpoint[];
    schema: {
        version: number;
        version_hash: string;
        verified: boolean;
        verified_at: string | null;
        claim: Claim;
        hosts: string[];
        auth: PackageAuth[];
        refused_by_owner?: number;
    };
}

const param = Joi.object<CatalogParam, true>({
    name: Joi.string().required(),
    source: v.source().required(),
    required: Joi.boolean().required(),
    description: Joi.string().allow('').required(),
    schema: Joi.alternatives(Joi.boolean(), v.jsonObject()),
    default: Joi.any() as Joi.AlternativesSchema,
    style: v.style(),
    segments: Joi.boolean().valid(true).description('The value may be several segments of the path, with slashes between them'),
});

const step = Joi.object<PackageStep>({
    url: Joi.string().required().description('URL template of the page'),
    form: Joi.string().description('Selector of the form whose fields are sent'),
    extract: v
        .jsonObject()
        .description('Values by name, used as {prepare.name}: an expression or selector, an entry of select, or {cookie}'),
});

const endpoint = Joi.object<CatalogEndpoint, true>({
    name: Joi.string().required(),
    method: v.method().required(),
    url: Joi.string().required().description('URL template; {placeholders} are filled with path params'),
    headers: Joi.object().pattern(Joi.string(), Joi.string().allow('')).required(),
    kind: v.kind().required(),
    description: Joi.string().allow('').required(),
    params: Joi.array().items(param).required(),
    body_format: v.bodyFormat().description('Absent where no body is sent'),
    body: (Joi.any() as Joi.AlternativesSchema).description(
        'Template of the body, in which "{name}" stands for a body param; absent: the body params as one flat object',
    ),
    body_required: Joi.boolean().valid(false).description('Without any body param no body is sent'),
    prepare: Joi.alternatives(step, Joi.array().items(step).max(3)).description(
        'A page to open first, or several in order, for cookies, values and the fields of a form; absent where there is none',
    ),
    hosted: Joi.boolean().required().description('Whether POST /v1/fetch runs it'),
    effect: v.effect().required(),
    auth: v.authNeed().required(),
    returns: Joi.alternatives(Joi.boolean(), v.jsonObject()).description('JSON Schema of what a fetch returns as data'),
    returns_truncated: Joi.boolean()
        .valid(true)
        .description('The schema was longer than 4 KiB: its deepest levels are {}; without returns, the answer was too long for it'),
    billing: Joi.object({
        unit: Joi.string().valid('request', 'result').required(),
        results: Joi.string().description('Dotted path to the list in data'),
        max_results: v.count().description('Results that one call returns at most'),
    })
        .required()
        .description('What credits are paid for; results and max_results where results are'),
    credits: v.count().required().description('What one unit costs through hosted fetch'),
    credits_max: v.count().required().description('The most that one call can cost'),
    pagination: Joi.object({ max_pages: v.count().required().description('Pages that one call reads at most') })
        .allow(null)
        .required()
        .description('null where it is one page'),
    examples: Joi.array()
        .items(Joi.object({ params: v.jsonObject().required() }))
        .max(1)
        .required()
        .description('The first example of the package; none where it is longer than 2 KiB'),
    health: v.health().required(),
});

/** GET /v1/catalog/{domain}: every endpoint of a site's latest schema that its owner allows, best matches of the intent first. */
export const getCatalog = contract<{ domain: string }, { intent?: string }, undefined, CatalogAnswer>({
    name: 'getCatalog',
    method: 'GET',
    path: '/v1/catalog/{domain}',
    tag: 'Catalog',
    summary: 'Look up every endpoint of a site',
    description: 'Needs an intent of at least 20 characters and 5 distinct words, by query or by header; the query wins.',
    auth: 'optional',
    scope: 'catalog',
    counted: true,
    params: Joi.object<{ domain: string }, true>({ domain: v.siteInput().required() }),
    query: Joi.object<{ intent?: string }, true>({ intent: Joi.string().allow('').description('What you want to do on the site') }),
    headers: { 'X-Service-Intent': { description: 'The intent, where the query parameter is not used' } },
    answer: {
        shape: 'whole',
        status: 200,
        schema: Joi.object<CatalogAnswer, true>({
            success: Joi.boolean().valid(true).required(),
            domain: v.siteName().required(),
            session_id: Joi.string().required(),
            endpoints: Joi.array().items(endpoint).required(),
            schema: Joi.object({
                version: v.versionNumber().required(),
                version_hash: v.versionHash().required(),
                verified: Joi.boolean().required(),
                verified_at: v.nullableTime().required(),
                claim: v.claim().required(),
                hosts: v.hosts().required(),
                auth: v.auth().required(),
                refused_by_owner: v
                    .count()
                    .description("Endpoints left out, since the site's owner or an operator refuses their calls; absent where none is"),
            }).required(),
        }),
    },
    refusals: [
        'INVALID_DOMAIN',
        'INTENT_REQUIRED',
        'INTENT_TOO_SHORT',
        'INTENT_TOO_FEW_WORDS',
        'INVALID_API_KEY',
        'FORBIDDEN',
        'SITE_BLOCKED',
        'SITE_NOT_FOUND',
        'RATE_LIMITED',
    ],
});
