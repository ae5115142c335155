import { listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { type RecordedAnswer, readRecorded } from './recorded-answer.ts';

/** A request and its response from a recording. Header names are in lower case. Texts are decoded and cut at `MAX_TEXT`. */
export interface Exchange {
    /** Its number in the recording, from 1. Reports use it instead of recorded values. */
    place: number;
    /** When it was sent, in milliseconds; `undefined` if the recording does not say. */
    sentAt: number | undefined;
    method: string;
    url: URL;
    /** The resource type from the recording: `document`, `xhr`, `image`, … */
    resource: string | undefined;
    requestHeaders: Map<string, string>;
    /** A multipart body without files is a form here. */
    body: { type: string; text: string; isMultipart?: true } | undefined;
    status: number;
    answerHeaders: Map<string, string>;
    answer: RecordedAnswer;
}

/** Only this many characters of a body are read. */
const MAX_TEXT = 8 * 1024 * 1024;

/**
 * Reads one entry of a HAR 1.2 file (`log.entries[]`) from any browser. Returns the reason if the entry is unusable; the reason never
 * repeats recorded values.
 */
export function readEntry(entry: unknown, place: number): { ok: true; exchange: Exchange } | { ok: false; why: string } {
    const { request, response } = objectOf(entry);
    const asked = objectOf(request);
    const answered = objectOf(response);
    const url = typeof asked['url'] === 'string' ? URL.parse(asked['url']) : null;
    if (url === null || typeof asked['method'] !== 'string') return { ok: false, why: 'it has no request with a method and a URL' };
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return { ok: false, why: 'its URL is not http(s) (data:, blob:, ws: …)' };
    const content = objectOf(answered['content']);
    const address = plainAddress(url);
    const { callback, ...answer } = readRecorded(typeOf(content, answered), textOf(content), address);
    // The name of the JSONP function is new each time. Without it, most sites answer with plain JSON.
    if (callback !== undefined) address.searchParams.delete(callback);
    const { _resourceType: resource, startedDateTime } = objectOf(entry);
    const sentAt = typeof startedDateTime === 'string' ? Date.parse(startedDateTime) : Number.NaN;
    return {
        ok: true,
        exchange: {
            place,
            sentAt: Number.isNaN(sentAt) ? undefined : sentAt,
            method: asked['method'].toUpperCase(),
            url: address,
            resource: typeof resource === 'string' && callback === undefined ? resource : undefined,
            requestHeaders: headersOf(asked['headers']),
            body: bodyOf(objectOf(asked['postData'])),
            status: typeof answered['status'] === 'number' ? answered['status'] : 0,
            answerHeaders: headersOf(answered['headers']),
            answer,
        },
    };
}

/**
 * The address without the session that Java programs write into its path, with one slash where a script joined two at the root, and with `&`
 * between the pairs of its query.
 */
export function plainAddress(url: URL): URL {
    const pathname = url.pathname.replace(SESSION, '').replace(/^\/+/, '/');
    if (pathname === url.pathname) return withAmpersands(url);
    const plain = new URL(url);
    plain.pathname = pathname;
    return withAmpersands(plain);
}

const SESSION = /;(?:jsessionid|phpsessid|sid|session_?id)=[^/;]*/i;

const SEMICOLONS = /^\?[A-Za-z_][\w.-]*=[^;&=]*(?:;[A-Za-z_][\w.-]*=[^;&=]*)+$/;

/** Replaces `;` between query pairs by `&`. Some CGI programs write `?p=boats;a=log`. */
function withAmpersands(url: URL): URL {
    if (url.search.length > MAX_QUERY || !SEMICOLONS.test(url.search)) return url;
    const plain = new URL(url);
    plain.search = url.search.replaceAll(';', '&');
    return plain;
}

const MAX_QUERY = 2000;

function headersOf(list: unknown): Map<string, string> {
    const headers = new Map<string, string>();
    for (const header of listOf(list)) {
        const { name, value } = objectOf(header);
        // HTTP/2 pseudo-headers hold the method and the path.
        if (typeof name === 'string' && typeof value === 'string' && !name.startsWith(':')) headers.set(name.toLowerCase(), value);
    }
    return headers;
}

function typeOf(content: Record<string, unknown>, answered: Record<string, unknown>): string {
    const named = typeof content['mimeType'] === 'string' ? content['mimeType'] : '';
    const type = named === '' || named === 'x-unknown' ? (headersOf(answered['headers']).get('content-type') ?? '') : named;
    return essenceOf(type);
}

/** `text/html; charset=utf-8` → `text/html`. */
function essenceOf(type: string): string {
    return (type.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function textOf({ text, encoding }: Record<string, unknown>): string | undefined {
    if (typeof text !== 'string') return undefined;
    if (encoding !== 'base64') return text.slice(0, MAX_TEXT);
    return Buffer.from(text.slice(0, (MAX_TEXT / 3) * 4), 'base64').toString('utf8');
}

function bodyOf({ mimeType, text, params }: Record<string, unknown>): Exchange['body'] {
    const type = typeof mimeType === 'string' ? mimeType : '';
    const pairs = new URLSearchParams();
    if (typeof text === 'string' && text !== '') {
        const fields = essenceOf(type) === 'multipart/form-data' ? multipartFields(text.slice(0, MAX_TEXT)) : undefined;
        if (fields === undefined) return { type: essenceOf(type), text: text.slice(0, MAX_TEXT) };
        for (const [name, value] of fields) pairs.append(name, value);
        return { type: FORM, text: pairs.toString(), isMultipart: true };
    }
    if (!Array.isArray(params) || params.length === 0) return undefined;
    for (const param of params) {
        const { name, value } = objectOf(param);
        if (typeof name === 'string') pairs.append(name, typeof value === 'string' ? value : '');
    }
    return { type: essenceOf(type), text: pairs.toString() };
}

const FORM = 'application/x-www-form-urlencoded';

/** The fields of a multipart body (RFC 7578); `undefined` if it has a file. A file input that was left empty is no field. */
function multipartFields(text: string): [string, string][] | undefined {
    const boundary = /^--[^\r\n]{1,200}/.exec(text)?.[0];
    if (boundary === undefined) return undefined;
    const fields: [string, string][] = [];
    for (const part of text.split(boundary).slice(1, -1)) {
        const [head = '', ...content] = part.split(/\r?\n\r?\n/);
        const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
        const file = /;\s*filename\*?=(?:"([^"]*)"|\S+)/i.exec(head);
        if (name === undefined || (file !== null && file[1] !== '')) return undefined;
        if (file === null) fields.push([name, content.join('\n\n').replace(/\r?\n$/, '')]);
    }
    return fields;
}
