import { valueIn } from '../json/value-in.ts';
import type { Endpoint, Json, ParamStyle, ResponseType, UpstreamRequest, Values } from '../types.ts';
import { encodeForm, fillTemplate, flatBody } from './body-template.ts';
import { isSegment } from './param-place.ts';
import { styledPairs } from './styled-pairs.ts';

export interface Identity {
    /** `Routebook/<version> (+PUBLIC_URL/abuse)`. */
    userAgent: string;
}

/** What the worker can unpack: one layer of these. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

const ACCEPT: Readonly<Record<ResponseType, string>> = {
    json: 'application/json',
    html: 'text/html,application/xhtml+xml',
    text: 'text/plain, */*;q=0.5',
};

const CONTENT_TYPE = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const;

/** A form that a page of the site held (docs/api.md, "Schema packages"). */
export interface PreparedForm {
    /** Absolute, without fragment; judged before anything is sent there. */
    action: string;
    /** Hidden inputs in the order of the page; names may repeat. */
    hidden: readonly (readonly [name: string, value: string])[];
}

/**
 * The whole request of one call (docs/api.md, "Schema packages"), from an endpoint and values that `bindParams` let
 * through. Scheme, host, port and the number of path segments are the template's, or those of the form's action, whatever the
 * values are; only a param with `segments` adds as many as its value has.
 * @param form its action stands for the endpoint's `url`, and its hidden inputs stand before the params, which win over them
 * @throws Error where a value could not have come out of `bindParams`: a bug, not a caller's fault.
 */
export function buildRequest(endpoint: Endpoint, values: Values, identity: Identity, form?: PreparedForm): UpstreamRequest {
    const own = bodyOf(endpoint, values);
    const body = form === undefined || isBodyless(endpoint) ? own : withHidden(form, own);
    const request: UpstreamRequest = {
        method: endpoint.method,
        url: form === undefined ? buildUrl(endpoint, values) : formUrl(form, endpoint, values),
        headers: headersOf(endpoint, values, identity, body !== undefined),
        bodyShown: null,
    };
    if (body === undefined) return request;
    const text = endpoint.bodyFormat === 'form' ? encodeForm(body, stylesOf(endpoint)) : JSON.stringify(body);
    return { ...request, body: text, bodyShown: endpoint.bodyFormat === 'form' ? text : body };
}

/** The GET of the page that `prepare` names: without the endpoint's body, its content type and its `accept`, since it is a page. */
export function buildPrepareRequest(url: string, identity: Identity): UpstreamRequest {
    const headers = { accept: ACCEPT.html, 'user-agent': identity.userAgent, 'accept-encoding': ACCEPT_ENCODING };
    return { method: 'GET', url, headers, bodyShown: null };
}

/** The URL: the template with its placeholders filled, its own query first, then the query params in the package's order. */
export function buildUrl(endpoint: Endpoint, values: Values): string {
    const [path, query] = splitOnce(endpoint.url, '?');
    const pairs = [...templatePairs(query, values), ...queryPairs(endpoint, values)];
    const filled = fill(path, values, segmentedNames(endpoint));
    if (filled === undefined) throw new Error(`a path param of ${endpoint.name} has no value`);
    return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`;
}

/** Percent-encodes everything but the unreserved characters of RFC 3986. */
export function encodeSegment(text: string): string {
    return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** As a browser does: a form sent by GET puts its fields in place of the action's query, any other leaves that query as it is. */
function formUrl({ action, hidden }: PreparedForm, endpoint: Endpoint, values: Values): string {
    const [path, query] = splitOnce(action, '?');
    const names = new Set(endpoint.params.filter(({ name }) => Object.hasOwn(values, name)).map(({ name }) => name));
    const fields = hidden.filter(([name]) => !names.has(name)).map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`);
    const first = isBodyless(endpoint) ? fields : query === undefined || query === '' ? [] : [query];
    const pairs = [...first, ...queryPairs(endpoint, values)];
    return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** A body that is no object, as a template may be, has no place for the hidden inputs. */
function withHidden({ hidden }: PreparedForm, own: Json | undefined): Json | undefined {
    if (own !== undefined && (typeof own !== 'object' || own === null || Array.isArray(own))) return own;
    const fields = new Map<string, Json>();
    for (const [name, value] of hidden) {
        const before = fields.get(name);
        fields.set(name, before === undefined ? value : [before, value].flat());
    }
    for (const [name, value] of Object.entries(own ?? {})) fields.set(name, value);
    return fields.size === 0 ? own : Object.fromEntries(fields);
}

/** A pair of the template's own query goes when a placeholder in it has no value. */
function templatePairs(query: string | undefined, values: Values): string[] {
    if (query === undefined || query === '') return [];
    return query
        .split('&')
        .map((pair) => fill(pair, values, NONE))
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

const NONE: ReadonlySet<string> = new Set();

/** Names of the path params whose values may be several segments. */
function segmentedNames({ params }: Endpoint): ReadonlySet<string> {
    return new Set(params.filter(({ segments }) => segments).map(({ name }) => name));
}

/** `split` with one group yields literal text at even places and names at odd ones; values are never scanned again. */
function fill(template: string, values: Values, segmented: ReadonlySet<string>): string | undefined {
    let filled = '';
    for (const [place, piece] of template.split(/\{([A-Za-z_][A-Za-z0-9_]*)\}/).entries()) {
        if (place % 2 === 0) {
            filled += piece;
            continue;
        }
        const value = valueIn(values, piece);
        if (value === undefined) return undefined;
        const text = textOf(piece, value);
        const segments = segmented.has(piece) ? text.split('/') : [text];
        if (!segments.every(isSegment)) throw new Error(`the path param ${piece} would change the path`);
        filled += segments.map(encodeSegment).join('/');
    }
    return filled;
}

function textOf(name: string, value: Json): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
    throw new Error(`the param ${name} has a value that no URL can hold`);
}

/** `undefined`: no body is sent. A template is sent even when no param fills it, unless the endpoint says that its body is optional. */
function bodyOf(endpoint: Endpoint, values: Values): Json | undefined {
    if (isBodyless(endpoint)) return undefined;
    const names = new Set(endpoint.params.filter(({ source }) => source === 'body').map(({ name }) => name));
    if (!endpoint.bodyRequired && [...names].every((name) => valueIn(values, name) === undefined)) return undefined;
    if (endpoint.body !== undefined) {
        const filled = fillTemplate(endpoint.body, names, values);
        return filled === undefined ? {} : filled;
    }
    return names.size === 0 ? undefined : flatBody(names, values);
}

/** Styles of the fields of a form; those of a template have none. */
function stylesOf({ params, body }: Endpoint): ReadonlyMap<string, ParamStyle> {
    const fields = body === undefined ? params.filter(({ source, style }) => source === 'body' && style !== 'repeat') : [];
    return new Map(fields.map(({ name, style }) => [name, style]));
}

function isBodyless({ method }: Endpoint): boolean {
    return method === 'GET' || method === 'HEAD';
}

/** Header params stand behind what we ask for by ourselves, and before the package's own headers, which they never replace. */
function headersOf(endpoint: Endpoint, values: Values, identity: Identity, hasBody: boolean): Record<string, string> {
    const { type } = endpoint.response;
    const own = Object.entries(endpoint.headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
    const headers = new Map<string, string>([['accept', type === undefined ? '*/*' : ACCEPT[type]]]);
    for (const { name, source } of endpoint.params) {
        const value = source === 'header' ? valueIn(values, name) : undefined;
        if (value !== undefined) headers.set(name.toLowerCase(), textOf(name, value));
    }
    if (hasBody) headers.set('content-type', CONTENT_TYPE[endpoint.bodyFormat]);
    for (const [name, value] of own) {
        if (hasBody || name !== 'content-type') headers.set(name, value);
    }
    headers.set('user-agent', identity.userAgent).set('accept-encoding', ACCEPT_ENCODING);
    return Object.fromEntries(headers);
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
    const place = text.indexOf(mark);
    return place === -1 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
}
