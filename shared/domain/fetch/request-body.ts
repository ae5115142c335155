import { valueIn } from '../json/value-in.ts';
import { isSafeMethod } from '../package/endpoint.ts';
import type { Endpoint, Json, JsonObject, ParamStyle, Values } from '../types.ts';
import { encodeForm, fillTemplate, flatBody } from './body-template.ts';
import { encodeMultipart, partTypesOf } from './multipart.ts';
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
    if (isSafeMethod(endpoint.method)) return undefined;
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
    const { bytes, boundary, shown } = encodeMultipart(body, partTypesOf(endpoint));
    return { sent: bytes, shown, contentType: `multipart/form-data; boundary=${boundary}` };
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
