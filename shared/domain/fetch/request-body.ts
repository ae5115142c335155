import { createHash } from 'node:crypto';
import { isObject } from '../json/schema/structure.ts';
import { valueIn } from '../json/value-in.ts';
import type { Endpoint, Json, JsonObject, ParamStyle, Values } from '../types.ts';
import { encodeForm, fillTemplate, flatBody } from './body-template.ts';
import { asFile, withoutBytes } from './files.ts';
import type { PreparedForm } from './prepared-form.ts';
import { fillText, isTextFormat } from './text-template.ts';

interface RequestBody {
    sent: string | Uint8Array;
    /** The body as `dry_run` shows it: JSON, fields with file sizes, or text. */
    shown: Json;
    contentType: string;
}

/** The body of a call; undefined if none is sent. A template that no param fills is sent too, unless the body is optional. */
export function requestBody(endpoint: Endpoint, values: Values, form: PreparedForm | undefined): RequestBody | undefined {
    if (isBodyless(endpoint)) return undefined;
    const { bodyFormat } = endpoint;
    const names = new Set(endpoint.params.filter(({ source }) => source === 'body').map(({ name }) => name));
    const isLeftOut = !endpoint.bodyRequired && [...names].every((name) => valueIn(values, name) === undefined);
    if (isTextFormat(bodyFormat)) {
        if (isLeftOut || typeof endpoint.body !== 'string') return undefined;
        const text = fillText(endpoint.body, bodyFormat, names, values);
        return { sent: text, shown: text, contentType: TEXT_TYPES[bodyFormat] };
    }
    const own = isLeftOut ? undefined : ownBody(endpoint, names, values);
    const body = form === undefined ? own : withFields(form, own);
    if (body === undefined) return undefined;
    if (bodyFormat === 'json') return { sent: JSON.stringify(body), shown: body, contentType: 'application/json' };
    if (bodyFormat === 'form') {
        const text = encodeForm(body, stylesOf(endpoint));
        return { sent: text, shown: text, contentType: 'application/x-www-form-urlencoded' };
    }
    const { bytes, boundary, shown } = encodeMultipart(body);
    return { sent: bytes, shown, contentType: `multipart/form-data; boundary=${boundary}` };
}

export function isBodyless({ method }: Pick<Endpoint, 'method'>): boolean {
    return method === 'GET' || method === 'HEAD';
}

const TEXT_TYPES = { xml: 'application/xml', text: 'text/plain; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

function ownBody({ body }: Endpoint, names: ReadonlySet<string>, values: Values): Json | undefined {
    if (body !== undefined) return fillTemplate(body, names, values) ?? {};
    return names.size === 0 ? undefined : flatBody(names, values);
}

/** A template may produce a body that is not an object. Such a body cannot contain the fields of the page. */
function withFields({ fields: filled }: PreparedForm, own: Json | undefined): Json | undefined {
    if (own !== undefined && (typeof own !== 'object' || own === null || Array.isArray(own))) return own;
    const fields = new Map<string, Json>();
    for (const [name, value] of filled) {
        const before = fields.get(name);
        fields.set(name, before === undefined ? value : [before, value].flat());
    }
    for (const [name, value] of Object.entries((own as JsonObject | undefined) ?? {})) fields.set(name, value);
    return fields.size === 0 ? own : Object.fromEntries(fields);
}

/** Styles of the form fields. Fields of a template have no style. */
function stylesOf({ params, body }: Endpoint): ReadonlyMap<string, ParamStyle> {
    const fields = body === undefined ? params.filter(({ source, style }) => source === 'body' && style !== 'repeat') : [];
    return new Map(fields.map(({ name, style }) => [name, style]));
}

interface MultipartBody {
    bytes: Uint8Array;
    boundary: string;
    /** The fields, with the size of each file instead of its bytes. */
    shown: JsonObject;
}

/**
 * Encodes fields and files as `multipart/form-data` (RFC 7578) in the given order. A list repeats its name, null is left out. The boundary
 * is derived from the content. So equal calls have equal bodies, and no content can contain its own boundary.
 */
function encodeMultipart(fields: Json): MultipartBody {
    const entries = isObject(fields) ? Object.entries(fields) : [];
    const parts = entries.flatMap(([name, value]) => itemsOf(value).map((item) => partOf(name, item)));
    const hash = createHash('sha256');
    for (const { head, content } of parts) hash.update(head).update(content);
    const boundary = `routebook-${hash.digest('hex').slice(0, 40)}`;
    const pieces = parts.flatMap(({ head, content }) => [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), content, LINE_END]);
    const bytes = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
    return { bytes, boundary, shown: Object.fromEntries(entries.map(([name, value]) => [name, withoutBytes(value)])) };
}

const LINE_END = Buffer.from('\r\n');

/** A list in the template may contain a list of the caller. */
function itemsOf(value: Json): Json[] {
    return [value].flat(2).filter((item) => item !== null);
}

function partOf(name: string, item: Json): { head: string; content: Uint8Array } {
    const disposition = `Content-Disposition: form-data; name="${escapeQuotes(name)}"`;
    if (!isObject(item)) return { head: disposition, content: Buffer.from(typeof item === 'string' ? item : JSON.stringify(item)) };
    const { filename, content_type: type, base64 } = asFile(item);
    return {
        head: `${disposition}; filename="${escapeQuotes(filename)}"\r\nContent-Type: ${type}`,
        content: Buffer.from(base64, 'base64'),
    };
}

/** Percent-encodes characters that would end a name, like browsers do. */
function escapeQuotes(text: string): string {
    return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
