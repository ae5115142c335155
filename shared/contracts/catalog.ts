import Joi from 'joi';
import type { Claim } from '../domain/site/claim.ts';
import type {
    AuthNeed,
    BillingUnit,
    Effect,
    JsonObject,
    JsonSchema,
    Kind,
    PackageAuth,
    PackageEndpoint,
    PackageParam,
    PackageStep,
} from '../domain/types.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export interface CatalogParam extends Omit<PackageParam, 'example'> {
    description: string;
    segments?: true;
}

export interface CatalogEndpoint extends Pick<PackageEndpoint, 'name' | 'method' | 'url' | 'body_format' | 'body'> {
    headers: Record<string, string>;
    kind: Kind;
    description: string;
    params: CatalogParam[];
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
    v.complete<CatalogParam>({
        name: Joi.string(),
        source: v.source(),
        required: Joi.boolean(),
        description: Joi.string().allow(''),
        schema: Joi.alternatives(Joi.boolean(), v.jsonObject()).optional(),
        default: (Joi.any() as Joi.AlternativesSchema).optional(),
        style: v.style().optional(),
        segments: Joi.boolean().valid(true).description('The value may contain several path segments, separated by slashes').optional(),
    });

const step = () =>
    v.complete<PackageStep>({
        url: Joi.string().description('URL template of the page'),
        form: Joi.string().description('Selector of the form whose fields the call sends').optional(),
        extract: v
            .jsonObject()
            .description('Values by name, used as {prepare.name}: an expression or selector, an entry of select, or {cookie}')
            .optional(),
    });

const endpoint = () =>
    v.complete<CatalogEndpoint>({
        name: Joi.string(),
        method: v.method(),
        url: Joi.string().description('URL template; {placeholders} are filled with path params'),
        headers: Joi.object().pattern(Joi.string(), Joi.string().allow('')),
        kind: v.kind(),
        description: Joi.string().allow(''),
        params: v.listOf(param()),
        body_format: v.bodyFormat().description('Absent if the call has no body').optional(),
        body: (Joi.any() as Joi.AlternativesSchema)
            .description('Template of the body, in which "{name}" stands for a body param; absent: the body params as one flat object')
            .optional(),
        body_required: Joi.boolean().valid(false).description('The body is omitted if no body param is given').optional(),
        prepare: Joi.alternatives(step(), v.listOf(step()).max(3))
            .description('Pages to open first, in order, for cookies, values and form fields; absent if there are none')
            .optional(),
        hosted: Joi.boolean().description('Whether POST /v1/fetch can call it'),
        effect: v.effect(),
        auth: v.authNeed(),
        returns: Joi.alternatives(Joi.boolean(), v.jsonObject()).description('JSON Schema of what a fetch returns as data').optional(),
        returns_truncated: Joi.boolean()
            .valid(true)
            .description('The schema exceeded 4 KiB, so its deepest levels are {}; without returns, the answer had no room for it')
            .optional(),
        billing: v
            .complete({
                unit: Joi.string().valid('request', 'result'),
                results: Joi.string().description('Dotted path to the list in data').optional(),
                max_results: v.count().description('Maximum number of results per call').optional(),
            })
            .description('What credits are charged for; with `result` there are also results and max_results'),
        credits: v.count().description('Price of one unit in a hosted fetch'),
        credits_max: v.count().description('Highest price of one call'),
        pagination: v
            .complete({ max_pages: v.count().description('Maximum number of pages that one call reads') })
            .allow(null)
            .description('null if the result is one page'),
        examples: v
            .listOf(v.complete({ params: v.jsonObject() }))
            .max(1)
            .description('The first example of the package, unless it is longer than 2 KiB'),
        health: v.health(),
    });

export const getCatalog = contract('getCatalog', 'GET /v1/catalog/{domain}', {
    tag: 'Catalog',
    summary: 'Look up every endpoint of a site',
    description: 'Requires an intent of at least 20 characters and 5 distinct words, in the query or in a header; the query wins.',
    auth: 'optional',
    scope: 'catalog',
    counted: true,
    query: Joi.object<{ intent?: string }, true>({ intent: Joi.string().allow('').description('What you want to do on the site') }),
    headers: { 'X-Service-Intent': { description: 'The intent, if it is not in the query' } },
    answer: {
        shape: 'whole',
        schema: () =>
            v.complete<CatalogAnswer>({
                success: Joi.boolean().valid(true),
                domain: v.siteName(),
                session_id: Joi.string(),
                endpoints: v.listOf(endpoint()),
                schema: {
                    version: v.versionNumber(),
                    version_hash: v.versionHash(),
                    verified: Joi.boolean(),
                    verified_at: v.nullableTime(),
                    claim: v.claim(),
                    hosts: v.hosts(),
                    auth: v.auth(),
                    refused_by_owner: v
                        .count()
                        .description("Endpoints left out, since the site's owner or an operator refuses their calls; absent where none is")
                        .optional(),
                },
            }),
    },
    refusals: ['INTENT_REQUIRED', 'INTENT_TOO_SHORT', 'INTENT_TOO_FEW_WORDS', 'SITE_BLOCKED', 'SITE_NOT_FOUND'],
});
