import { isFileSchema } from '../../../shared/domain/fetch/files.ts';
import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import * as pricing from '../../../shared/domain/package/pricing.ts';
import { clip } from '../../../shared/domain/text/clip.ts';
import { counted } from '../../../shared/domain/text/counted.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Param, ResponseType } from '../../../shared/domain/types.ts';
import type { TrafficHealth } from '../../../shared/store/usage/traffic.ts';

/** An endpoint as a page shows it, with long texts cut, since a package may be too large for a page. */
interface EndpointShown extends Pick<Endpoint, 'name' | 'kind' | 'method' | 'effect' | 'hosted'> {
    description: string;
    url: string;
    params: {
        name: string;
        source: string;
        isRequired: boolean;
        type: string;
        fallback: string | undefined;
        example: string | undefined;
        description: string;
    }[];
    moreParams: number;
    answer: string[];
    price: string;
    health: TrafficHealth | undefined;
    example: JsonObject;
}

const PARAMS = 40;
const WORDS = 1000;
const TYPE = 160;
/** Maximum number of params of an example. `VALUE` is the maximum number of characters of each. */
const EXAMPLE = 100;
const VALUE = 500;
/** Maximum number of characters of an example value beside its param. */
const SHORT = 60;

/** @param siteCredits price of one unit, in credits */
export function describeEndpoint(
    endpoint: Endpoint,
    { siteCredits, health }: { siteCredits: number; health: TrafficHealth | undefined },
): EndpointShown {
    const { name, kind, method, effect, hosted, description, url, params } = endpoint;
    const values = endpoint.examples[0]?.params ?? {};
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
            fallback: param.default === undefined ? undefined : writeValue(param.default),
            example: exampleText(param.example ?? (Object.hasOwn(values, param.name) ? values[param.name] : undefined)),
            description: clip(param.description, 300),
        })),
        moreParams: Math.max(0, params.length - PARAMS),
        answer: answerOf(endpoint),
        price: priceOf(endpoint, siteCredits),
        health,
        example: exampleOf(endpoint),
    };
}

/** A value as people type it, so text without quotes. Undefined if it is long. */
function exampleText(value: Json | undefined): string | undefined {
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') return value.length > SHORT ? undefined : value;
    const { text, isWhole } = writeJson(value, SHORT);
    return isWhole ? text : undefined;
}

/** Describes the values of a param, e.g. "integer, 1–100". */
export function typeOf(schema: JsonSchema | undefined): string {
    if (schema === undefined || schema === true) return 'any value';
    if (schema === false) return 'no value';
    const { type, enum: values, items } = schema;
    if (Array.isArray(values)) return oneOf(values);
    if (type === 'array' && typeof items === 'object' && items !== null && !Array.isArray(items))
        return clip(`list of ${typeOf(items)}`, TYPE);
    if (isFileSchema(schema)) return 'file: {filename, content_type, base64}';
    if (typeof type === 'string') return clip([type, ...boundsOf(schema)].join(', '), TYPE);
    if (Array.isArray(type)) return clip(type.map(String).join(' or '), TYPE);
    return writeValue(schema);
}

/** Stands for a value that the reader has to choose. */
export const PLACEHOLDER = '…';

/**
 * The params of the first example. Without an example, the required params, each with its own example, a value of its type or a
 * placeholder. Values that are too long for a page become placeholders too.
 */
export function exampleOf({ examples, params }: Endpoint): JsonObject {
    const [example] = examples;
    const entries = example === undefined ? params.filter(isNeeded).map(exampleParam) : Object.entries(example.params);
    return Object.fromEntries(entries.slice(0, EXAMPLE).map(([name, value]) => [name, isShort(value) ? value : PLACEHOLDER]));
}

export function isShort(value: Json): boolean {
    return writeJson(value, VALUE).isWhole;
}

function isNeeded({ required, default: fallback }: Param): boolean {
    return required && fallback === undefined;
}

function exampleParam(param: Param): [name: string, value: Json] {
    return [param.name, anyValue(param)];
}

function anyValue({ example, schema }: Param): Json {
    if (example !== undefined) return example;
    if (typeof schema !== 'object') return PLACEHOLDER;
    if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
    const { type, minimum } = schema;
    if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1;
    if (type === 'boolean') return true;
    return type === 'array' ? [] : type === 'object' ? {} : PLACEHOLDER;
}

function boundsOf(schema: JsonObject): string[] {
    const { minimum, maximum, minLength, maxLength, pattern, format } = schema;
    return [
        ...rangeOf(minimum, maximum),
        ...(typeof minLength === 'number' ? [`at least ${counted(minLength, 'character')}`] : []),
        ...(typeof maxLength === 'number' ? [`at most ${counted(maxLength, 'character')}`] : []),
        ...(typeof pattern === 'string' ? [`matches ${pattern}`] : []),
        ...(typeof format === 'string' ? [`format ${format}`] : []),
    ];
}

function rangeOf(min: Json | undefined, max: Json | undefined): string[] {
    if (typeof min === 'number' && typeof max === 'number') return [min < 0 ? `${min} to ${max}` : `${min}–${max}`];
    if (typeof min === 'number') return [`${min} or more`];
    return typeof max === 'number' ? [`up to ${max}`] : [];
}

const ANSWERS: Readonly<Record<ResponseType, string>> = {
    json: 'JSON',
    ndjson: 'Lines of JSON',
    html: 'Extracted from HTML',
    xml: 'Extracted from XML',
    feed: 'The items of a feed',
    csv: 'The rows of a CSV file',
    text: 'Text',
    binary: 'A file',
};

function answerOf({ response, billing, pagination, method }: Endpoint): string[] {
    if (method === 'HEAD') return ['Only whether it exists.'];
    const kind = response.type === undefined ? 'The site’s own response' : ANSWERS[response.type];
    const { select } = response;
    const fields = typeof select === 'object' ? Object.keys(select) : [];
    return [
        fields.length === 0 ? `${kind}.` : clip(`${kind}, as ${fields.join(', ')}.`, WORDS),
        ...(billing.unit === 'result' || pagination !== undefined ? [`Results are in ${clip(billing.results, 100)}.`] : []),
        ...(pagination === undefined ? [] : [`Follows up to ${pagination.maxPages} pages.`]),
    ];
}

function priceOf(endpoint: Endpoint, siteCredits: number): string {
    const credits = (amount: number) => `${amount.toLocaleString('en-US')} ${amount === 1 ? 'credit' : 'credits'}`;
    const max = siteCredits * pricing.greatestUnits(endpoint);
    if (endpoint.billing.unit === 'result') return `${credits(siteCredits)} per result, up to ${max.toLocaleString('en-US')}`;
    return endpoint.pagination === undefined
        ? credits(siteCredits)
        : `${credits(siteCredits)} per page, up to ${max.toLocaleString('en-US')}`;
}

/** Lists the allowed values. Stops at the shown length, since a schema may have a thousand long values. */
function oneOf(values: readonly Json[]): string {
    let text = 'one of ';
    for (const [place, value] of values.entries()) {
        if (text.length > TYPE) break;
        text += `${place === 0 ? '' : ', '}${writeValue(value)}`;
    }
    return clip(text, TYPE);
}

export function writeValue(value: Json): string {
    const { text, isWhole } = writeJson(value, TYPE);
    return isWhole ? text : clip(`${text}…`, TYPE);
}
