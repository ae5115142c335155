import { isExact } from '../json/exact-numbers.ts';
import { valueIn } from '../json/value-in.ts';
import { isSafeMethod } from '../package/endpoint.ts';
import { splitOnce } from '../text/split-once.ts';
import type { Endpoint, Json, PrepareStep, ResponseType, UpstreamRequest, Values } from '../types.ts';
import { isSegment } from './param-place.ts';
import type { PreparedForm } from './prepared-form.ts';
import { PREPARED_PLACEHOLDER } from './prepared-values.ts';
import { requestBody } from './request-body.ts';
import { styledPairs } from './styled-pairs.ts';

/** Encodings that the worker can decode. An answer may be encoded once. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

const ACCEPT: Readonly<Record<ResponseType, string>> = {
    json: 'application/json',
    ndjson: 'application/x-ndjson, application/jsonl, */*;q=0.5',
    html: 'text/html,application/xhtml+xml',
    xml: 'application/xml, text/xml, */*;q=0.5',
    feed: 'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5',
    csv: 'text/csv, text/tab-separated-values, */*;q=0.5',
    text: 'text/plain, */*;q=0.5',
    binary: '*/*',
};

/**
 * Builds the request of one call (docs/api.md, "Schema packages") from an endpoint and values that `bindParams` accepted. Scheme, host,
 * port and the number of path segments always come from the template, or from the action of the form. Only a param with `segments` adds as
 * many segments as its value has.
 * @param userAgent `Routebook/<version> (+PUBLIC_URL/abuse)`
 * @param form its action replaces the endpoint's `url`; its fields precede the params, which override them
 * @throws Error if `bindParams` cannot have returned a value. That is a bug, not an error of the caller.
 */
export function buildRequest(endpoint: Endpoint, values: Values, userAgent: string, form?: PreparedForm): UpstreamRequest {
    const body = requestBody(endpoint, values, form);
    const request: UpstreamRequest = {
        method: endpoint.method,
        url: form === undefined ? buildUrl(endpoint, values) : formUrl(form, endpoint, values),
        headers: headersOf(endpoint, values, userAgent, body?.contentType),
        bodyShown: null,
    };
    return body === undefined ? request : { ...request, body: body.sent, bodyShown: body.shown };
}

/** Builds the GET request of a `prepare` page, without the endpoint's body, content type and `accept`. */
export function buildPrepareRequest(step: PrepareStep, endpoint: Endpoint, values: Values, userAgent: string): UpstreamRequest {
    const isPage = step.form !== undefined || Object.keys(step.extract).length === 0;
    const headers = {
        accept: isPage ? ACCEPT.html : `${ACCEPT.html},application/json;q=0.9,*/*;q=0.8`,
        'user-agent': userAgent,
        'accept-encoding': ACCEPT_ENCODING,
    };
    return { method: 'GET', url: buildStepUrl(step, endpoint, values), headers, bodyShown: null };
}

/** The URL of a `prepare` page. It contains query params of the call only if it has placeholders for them. */
export function buildStepUrl({ url }: PrepareStep, endpoint: Endpoint, values: Values): string {
    return fillUrl(url, endpoint, values, []);
}

/** The URL of a call: the template with filled placeholders, then its own query, then the query params in the order of the package. */
export function buildUrl(endpoint: Endpoint, values: Values): string {
    return fillUrl(endpoint.url, endpoint, values, queryPairs(endpoint, values));
}

function fillUrl(template: string, endpoint: Endpoint, values: Values, more: readonly string[]): string {
    const [path, query] = splitOnce(template, '?');
    const pairs = [...templatePairs(query, values), ...more];
    const filled = fill(path, values, { segmented: new Set(endpoint.params.filter(({ segments }) => segments).map(({ name }) => name)) });
    if (filled === undefined) throw new Error(`a path param of ${endpoint.name} has no value`);
    return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encodeSegment(text: string): string {
    return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Builds the URL like a browser. The fields of a GET form replace the query of the action. Any other form keeps that query. */
function formUrl({ action, fields: filled }: PreparedForm, endpoint: Endpoint, values: Values): string {
    const [path, query] = splitOnce(action, '?');
    const names = new Set(endpoint.params.filter(({ name }) => Object.hasOwn(values, name)).map(({ name }) => name));
    const fields = filled.filter(([name]) => !names.has(name)).map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`);
    const first = isSafeMethod(endpoint.method) ? fields : query === undefined || query === '' ? [] : [query];
    const pairs = [...first, ...queryPairs(endpoint, values)];
    return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** Leaves out a pair of the template's query if a placeholder in it has no value. */
function templatePairs(query: string | undefined, values: Values): string[] {
    if (query === undefined || query === '') return [];
    return query
        .split('&')
        .map((pair) => fill(pair, values, undefined))
        .filter((pair) => pair !== undefined);
}

function queryPairs(endpoint: Endpoint, values: Values): string[] {
    return endpoint.params
        .filter(({ source }) => source === 'query')
        .flatMap(({ name, style }) => {
            const value = valueIn(values, name);
            return value === undefined ? [] : styledPairs(name, value, style, (item) => encodeSegment(textOf(name, item)));
        });
}

/** Fills the placeholders; undefined if one of them has no value. Inserted values are never scanned again. */
function fill(template: string, values: Values, path: { segmented: ReadonlySet<string> } | undefined): string | undefined {
    let filled = '';
    // `split` with one group returns literal text at even indices and names at odd ones.
    for (const [place, piece] of template.split(/\{((?:prepare\.)?[A-Za-z_][A-Za-z0-9_]*)\}/).entries()) {
        if (place % 2 === 0) {
            filled += piece;
            continue;
        }
        const value = valueIn(values, piece.startsWith('prepare.') ? `{${piece}}` : piece);
        if (value === undefined) return undefined;
        const text = textOf(piece, value);
        const segments = path?.segmented.has(piece) === true ? text.split('/') : [text];
        if (path !== undefined && !segments.every(isSegment)) throw new Error(`the path param ${piece} would change the path`);
        filled += segments.map(encodeSegment).join('/');
    }
    return filled;
}

function textOf(name: string, value: Json): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'boolean' || Number.isFinite(value) || isExact(value)) return JSON.stringify(value);
    throw new Error(`the param ${name} has a value that no URL can hold`);
}

/** Later ones replace earlier ones: our `accept`, header params, our `content-type`, the package's own headers, our other headers. */
function headersOf(endpoint: Endpoint, values: Values, userAgent: string, contentType: string | undefined): Record<string, string> {
    const own = Object.entries(endpoint.headers).map(([name, value]): [string, string] => [
        name.toLowerCase(),
        value.replaceAll(PREPARED_PLACEHOLDER, (placeholder, name: string) => textOf(name, valueIn(values, placeholder) ?? placeholder)),
    ]);
    const headers = new Map<string, string>([['accept', acceptOf(endpoint)]]);
    for (const { name, source } of endpoint.params) {
        const value = source === 'header' ? valueIn(values, name) : undefined;
        if (value !== undefined) headers.set(name.toLowerCase(), textOf(name, value));
    }
    if (contentType !== undefined) headers.set('content-type', contentType);
    for (const [name, value] of own) {
        if (contentType !== undefined || name !== 'content-type') headers.set(name, value);
    }
    headers.set('user-agent', userAgent).set('accept-encoding', ACCEPT_ENCODING);
    return Object.fromEntries(headers);
}

function acceptOf({ response: { type, sse = false } }: Endpoint): string {
    if (sse) return 'text/event-stream';
    return type === undefined ? '*/*' : ACCEPT[type];
}
