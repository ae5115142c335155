import * as pricing from '../../../shared/domain/pricing.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Param } from '../../../shared/domain/types.ts';
import type { TrafficHealth } from '../../../shared/store/usage.ts';

/** An endpoint as its page shows it; packages may be long, pages may not. */
export interface EndpointShown extends Pick<Endpoint, 'name' | 'kind' | 'method' | 'effect' | 'hosted'> {
    description: string;
    url: string;
    params: { name: string; source: string; isRequired: boolean; type: string; fallback: string | undefined; description: string }[];
    /** Params that are not shown. */
    moreParams: number;
    answer: string[];
    /** What its schema says of the answer, as text; undefined without one. */
    schema: string | undefined;
    price: string;
    health: TrafficHealth | undefined;
    /** Params that are good for a call. */
    example: JsonObject;
}

const PARAMS = 40;
const WORDS = 1000;
const SCHEMA = 1500;
const TYPE = 160;

/** @param siteCredits credits of one unit */
export function describeEndpoint(
    endpoint: Endpoint,
    { siteCredits, health }: { siteCredits: number; health: TrafficHealth | undefined },
): EndpointShown {
    const { name, kind, method, effect, hosted, description, url, params, response } = endpoint;
    return {
        name,
        kind,
        method,
        effect,
        hosted,
        description: clip(description, WORDS),
        url: clip(url, 300),
        params: params.slice(0, PARAMS).map((param) => ({
            name: param.name,
            source: param.source,
            isRequired: param.required,
            type: typeOf(param.schema),
            fallback: param.default === undefined ? undefined : clip(JSON.stringify(param.default), TYPE),
            description: clip(param.description, 300),
        })),
        moreParams: Math.max(0, params.length - PARAMS),
        answer: answerOf(endpoint),
        schema: response.schema === undefined ? undefined : clip(JSON.stringify(response.schema, undefined, 2), SCHEMA),
        price: priceOf(endpoint, siteCredits),
        health,
        example: exampleOf(endpoint),
    };
}

/** What a param takes, in words. */
export function typeOf(schema: JsonSchema | undefined): string {
    if (schema === undefined || schema === true) return 'any value';
    if (schema === false) return 'no value';
    const { type, enum: values, items } = schema;
    if (Array.isArray(values)) return clip(`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`, TYPE);
    if (type === 'array' && typeof items === 'object' && items !== null && !Array.isArray(items))
        return clip(`list of ${typeOf(items)}`, TYPE);
    if (typeof type === 'string') return clip([type, ...boundsOf(schema)].join(', '), TYPE);
    if (Array.isArray(type)) return clip(type.map(String).join(' or '), TYPE);
    return clip(JSON.stringify(schema), TYPE);
}

/** Params of the first example, or what is required with an example, a default or a placeholder of its type. */
export function exampleOf({ examples, params }: Endpoint): JsonObject {
    const [example] = examples;
    if (example !== undefined) return example.params;
    return Object.fromEntries(
        params
            .filter(({ required, default: fallback }) => required && fallback === undefined)
            .map((param) => [param.name, anyValue(param)]),
    );
}

function anyValue({ example, schema }: Param): Json {
    if (example !== undefined) return example;
    if (typeof schema !== 'object') return '…';
    if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
    const { type, minimum } = schema;
    if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1;
    if (type === 'boolean') return true;
    return type === 'array' ? [] : type === 'object' ? {} : '…';
}

const BOUNDS = { minimum: 'from', maximum: 'to', minLength: 'at least', maxLength: 'at most', pattern: 'like', format: 'as' } as const;

function boundsOf(schema: JsonObject): string[] {
    return Object.entries(BOUNDS).flatMap(([key, words]) => {
        const value = schema[key];
        if (typeof value !== 'number' && typeof value !== 'string') return [];
        return [`${words} ${value}${key.endsWith('Length') ? ' characters' : ''}`];
    });
}

function answerOf({ response, billing, pagination, method }: Endpoint): string[] {
    if (method === 'HEAD') return ['Says only whether it is there.'];
    const kind =
        response.type === undefined ? 'What the site sends' : { json: 'JSON', html: 'Read from HTML', text: 'Text' }[response.type];
    const { select } = response;
    const fields = typeof select === 'object' ? Object.keys(select) : [];
    return [
        fields.length === 0 ? `${kind}.` : clip(`${kind}, as ${fields.join(', ')}.`, WORDS),
        ...(billing.unit === 'result' || pagination !== undefined ? [`Results stand in ${clip(billing.results, 100)}.`] : []),
        ...(pagination === undefined ? [] : [`Follows up to ${pagination.maxPages} pages.`]),
    ];
}

function priceOf(endpoint: Endpoint, siteCredits: number): string {
    const credits = (amount: number) => `${amount.toLocaleString('en-US')} ${amount === 1 ? 'credit' : 'credits'}`;
    const most = siteCredits * pricing.greatestUnits(endpoint);
    if (endpoint.billing.unit === 'result') return `${credits(siteCredits)} a result, at most ${credits(most)}`;
    return endpoint.pagination === undefined ? credits(siteCredits) : `${credits(siteCredits)} a page, at most ${credits(most)}`;
}

function clip(text: string, most: number): string {
    return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
