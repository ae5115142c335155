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

const param = () =>
    Joi.object<CatalogParam, true>({
        name: Joi.string().required(),
        source: v.source().required(),
        required: Joi.boolean().required(),
        description: Joi.string().allow('').required(),
        schema: Joi.alternatives(Joi.boolean(), v.jsonObject()),
        default: Joi.any() as Joi.AlternativesSchema,
        style: v.style(),
        segments: Joi.boolean().valid(true).description('The value may contain several path segments, separated by slashes'),
    });

const step = () =>
    Joi.object<PackageStep>({
        url: Joi.string().required().description('URL template of the page'),
        form: Joi.string().description('Selector of the form whose fields the call sends'),
        extract: v
            .jsonObject()
            .description('Values by name, used as {prepare.name}: an expression or selector, an entry of select, or {cookie}'),
    });

const endpoint = () =>
    Joi.object<CatalogEndpoint, true>({
        name: Joi.string().required(),
        method: v.method().required(),
        url: Joi.string().required().description('URL template; {placeholders} are filled with path params'),
        headers: Joi.object().pattern(Joi.string(), Joi.string().allow('')).required(),
        kind: v.kind().required(),
        description: Joi.string().allow('').required(),
        params: Joi.array().items(param()).required(),
        body_format: v.bodyFormat().description('Absent if the call has no body'),
        body: (Joi.any() as Joi.AlternativesSchema).description(
            'Template of the body, in which "{name}" stands for a body param; absent: the body params as one flat object',
        ),
        body_required: Joi.boolean().valid(false).description('The body is omitted if no body param is given'),
        prepare: Joi.alternatives(step(), Joi.array().items(step()).max(3)).description(
            'Pages to open first, in order, for cookies, values and form fields; absent if there are none',
        ),
        hosted: Joi.boolean().required().description('Whether POST /v1/fetch can call it'),
        effect: v.effect().required(),
        auth: v.authNeed().required(),
        returns: Joi.alternatives(Joi.boolean(), v.jsonObject()).description('JSON Schema of what a fetch returns as data'),
        returns_truncated: Joi.boolean()
            .valid(true)
            .description('The schema exceeded 4 KiB, so its deepest levels are {}; without returns, the answer had no room for it'),
        billing: Joi.object({
            unit: Joi.string().valid('request', 'result').required(),
            results: Joi.string().description('Dotted path to the list in data'),
            max_results: v.count().description('Most results of one call'),
        })
            .required()
            .description('What credits are charged for; with `result` there are also results and max_results'),
        credits: v.count().required().description('Price of one unit in a hosted fetch'),
        credits_max: v.count().required().description('Highest price of one call'),
        pagination: Joi.object({ max_pages: v.count().required().description('Most pages that one call reads') })
            .allow(null)
            .required()
            .description('null if the result is one page'),
        examples: Joi.array()
            .items(Joi.object({ params: v.jsonObject().required() }))
            .max(1)
            .required()
            .description('The first example of the package, unless it is longer than 2 KiB'),
        health: v.health().required(),
    });

export const getCatalog = contract({
    name: 'getCatalog',
    route: 'GET /v1/catalog/{domain}',
    tag: 'Catalog',
    summary: 'Look up every endpoint of a site',
    description: 'Requires an intent of at least 20 characters and 5 distinct words, in the query or in a header; the query wins.',
    auth: 'optional',
    scope: 'catalog',
    counted: true,
    params: Joi.object<{ domain: string }, true>({ domain: v.siteInput().required() }),
    query: Joi.object<{ intent?: string }, true>({ intent: Joi.string().allow('').description('What you want to do on the site') }),
    headers: { 'X-Service-Intent': { description: 'The intent, if it is not in the query' } },
    answer: {
        shape: 'whole',
        schema: () =>
            Joi.object<CatalogAnswer, true>({
                success: Joi.boolean().valid(true).required(),
                domain: v.siteName().required(),
                session_id: Joi.string().required(),
                endpoints: Joi.array().items(endpoint()).required(),
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
    refusals: ['INTENT_REQUIRED', 'INTENT_TOO_SHORT', 'INTENT_TOO_FEW_WORDS', 'SITE_BLOCKED', 'SITE_NOT_FOUND'],
});
