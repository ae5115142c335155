import {
    type BillingUnit,
    BODY_FORMATS,
    type BodyFormat,
    type Effect,
    type Json,
    type JsonObject,
    KINDS,
    type Kind,
    METHODS,
    type Method,
    type PaginationStyle,
    type ParamSource,
    type ParamStyle,
    type ResponseType,
    SOURCES,
    STYLES,
} from '../../types.ts';
import { ENDPOINT_NAME } from '../endpoint-name.ts';
import { anyJson, anyObject, type Fields, flag, listOf, objectOf, oneOf, text, wholeNumber } from './shape.ts';

/**
 * The fields of a package (docs/api.md, "Schema packages"), once, as tables. What comes out are drafts: the fields that have the right type, with
 * everything else left out and reported.
 */
export interface ParamFields {
    name: string;
    source: ParamSource;
    required: boolean;
    description: string;
    schema: Json;
    default: Json;
    example: Json;
    style: ParamStyle;
    segments: boolean;
}
export type ParamDraft = Partial<ParamFields>;

export interface PrepareFields {
    url: string;
    form: string;
}

export interface ResponseFields {
    type: ResponseType;
    select: Json;
    schema: Json;
}

export interface BillingFields {
    unit: BillingUnit;
    results: string;
    max_results: number;
}

export interface PaginationFields {
    style: PaginationStyle;
    param: string;
    start: number;
    step: number;
    next: string;
    max_pages: number;
}

export interface EndpointFields {
    name: string;
    kind: Kind;
    description: string;
    method: Method;
    url: string;
    headers: JsonObject;
    params: (ParamDraft | undefined)[];
    body: Json;
    body_format: BodyFormat;
    body_required: boolean;
    prepare: Partial<PrepareFields>;
    hosted: boolean;
    effect: Effect;
    response: Partial<ResponseFields>;
    billing: Partial<BillingFields>;
    pagination: Partial<PaginationFields>;
    examples: ({ params?: JsonObject } | undefined)[];
}
export type EndpointDraft = Partial<EndpointFields>;

export interface PackageFields {
    format: string;
    site: string;
    title: string;
    description: string;
    intent_category: string;
    pace: { requests_per_minute?: number };
    endpoints: (EndpointDraft | undefined)[];
}
export type PackageDraft = Partial<PackageFields>;

export const MAX_ENDPOINTS = 500;
export const MAX_PARAMS = 2000;
export const MAX_TITLE = 200;
export const MAX_DESCRIPTION = 10_000;
export const MAX_EXAMPLES = 20;
export const MAX_URL = 2048;
const MAX_EXPRESSION = 1000;

const description = { read: text({ max: MAX_DESCRIPTION, empty: true, multiline: true }) };

const PARAM: Fields<ParamFields> = {
    name: {
        read: text({ max: 64, pattern: /^[!-z|~]+$/, hint: 'The name of a param has 1 to 64 visible ASCII characters and no braces.' }),
        required: true,
    },
    source: { read: oneOf(SOURCES), required: true },
    required: { read: flag, required: true },
    description,
    schema: { read: anyJson },
    default: { read: anyJson },
    example: { read: anyJson },
    style: { read: oneOf(STYLES) },
    segments: { read: flag },
};

const PREPARE: Fields<PrepareFields> = {
    url: { read: text({ max: MAX_URL }), required: true },
    form: { read: text({ max: MAX_EXPRESSION }) },
};

const RESPONSE: Fields<ResponseFields> = {
    type: { read: oneOf(['json', 'html', 'text']) },
    select: { read: anyJson },
    schema: { read: anyJson },
};

const BILLING: Fields<BillingFields> = {
    unit: { read: oneOf(['request', 'result']) },
    results: {
        read: text({
            max: 200,
            // Whatever JSON can have for a key, `@graph` and `2024` too, except the dot, which is ours.
            pattern: /^[^.\p{Cc}]+(?:\.[^.\p{Cc}]+)*$/u,
            hint: 'This is a dotted path into data, such as items or page.items, without empty steps.',
        }),
    },
    max_results: { read: wholeNumber(1, 1000) },
};

const PAGINATION: Fields<PaginationFields> = {
    style: { read: oneOf(['page', 'offset', 'cursor', 'link']) },
    param: {
        read: text({ max: 64, pattern: /^[!-z|~]+$/, hint: 'The name of a param has 1 to 64 visible ASCII characters and no braces.' }),
    },
    start: { read: wholeNumber(0, 1_000_000_000) },
    step: { read: wholeNumber(1, 1_000_000) },
    next: { read: text({ max: MAX_EXPRESSION, multiline: true }), orNull: true },
    max_pages: { read: wholeNumber(1, 20) },
};

const ENDPOINT: Fields<EndpointFields> = {
    name: {
        read: text({
            max: 64,
            pattern: ENDPOINT_NAME,
            hint: 'The name of an endpoint begins with a small letter and goes on with small letters, digits and underscores, 64 at most.',
        }),
        required: true,
    },
    kind: { read: oneOf(KINDS) },
    description,
    method: { read: oneOf(METHODS), required: true },
    url: { read: text({ max: MAX_URL }), required: true },
    headers: { read: anyObject },
    params: { read: listOf(objectOf(PARAM), { max: MAX_PARAMS, of: 'params' }) },
    body: { read: anyJson, orNull: true },
    body_format: { read: oneOf(BODY_FORMATS) },
    body_required: { read: flag },
    prepare: { read: objectOf(PREPARE), orNull: true },
    hosted: { read: flag },
    effect: { read: oneOf(['read', 'write']) },
    response: { read: objectOf(RESPONSE) },
    billing: { read: objectOf(BILLING) },
    pagination: { read: objectOf(PAGINATION), orNull: true },
    examples: {
        read: listOf(objectOf<{ params: JsonObject }>({ params: { read: anyObject, required: true } }), {
            max: MAX_EXAMPLES,
            of: 'examples',
        }),
    },
};

const PACKAGE: Fields<PackageFields> = {
    format: { read: oneOf(['routebook/1']), required: true },
    site: { read: text({ max: 1024 }), required: true },
    title: { read: text({ max: MAX_TITLE }), required: true },
    description,
    intent_category: { read: text({ max: 100 }), required: true },
    pace: { read: objectOf<{ requests_per_minute: number }>({ requests_per_minute: { read: wholeNumber(1, 6000), required: true } }) },
    endpoints: { read: listOf(objectOf(ENDPOINT), { min: 1, max: MAX_ENDPOINTS, of: 'endpoints' }), required: true },
};

/** Reads a whole package into a draft and reports every field that does not belong. */
export const readPackage = objectOf(PACKAGE);
