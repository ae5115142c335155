import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { BodyFormat, Json, JsonObject } from '../../../shared/domain/types.ts';
import { formOf } from '../words/segments.ts';
import type { Exchange } from './exchange.ts';
import { calledByHeader } from './headers.ts';
import { calling, namedOf, type Operation, operationOf } from './operation.ts';
import { parseJson } from './redact.ts';
import { isXml, readXmlBody } from './xml.ts';

/** The body of a request, as a package would send it. `unfit`: no package can. */
export type SentBody =
    | { sort: 'none' }
    | { sort: 'unfit'; why: string }
    | { sort: 'operation'; format: BodyFormat; operation: Operation; template?: string }
    | { sort: 'fields'; format: BodyFormat; fields: Map<string, Json[]>; template?: string }
    | { sort: 'whole'; format: BodyFormat; value: Json };

/** Splits the body of an exchange into fields, if a package can send such a body. */
export function readBody({ method, body, url, answer, requestHeaders }: Exchange): SentBody {
    if (method === 'GET' || method === 'HEAD') return { sort: 'none' };
    if (body === undefined && /^(?:application\/octet-stream|image|audio|video)/.test(requestHeaders.get('content-type') ?? ''))
        return { sort: 'unfit', why: 'its body is a file, which is not drafted' };
    if (body === undefined) return { sort: 'none' };
    if (body.type === 'multipart/form-data') return { sort: 'unfit', why: 'its body is multipart with files, which are not drafted' };
    if (body.type === 'application/x-www-form-urlencoded') {
        const fields = new Map<string, Json[]>();
        for (const [name, value] of new URLSearchParams(body.text)) getOrMake(fields, name, () => []).push(value);
        const isPlain = [...fields.values()].every((values) => values.length === 1);
        const flat = Object.fromEntries([...fields].map(([name, [value]]) => [name, value ?? null]));
        const named = isPlain ? namedOf(flat, url.pathname) : undefined;
        const format = body.isMultipart === true ? 'multipart' : 'form';
        return named === undefined ? { sort: 'fields', format, fields } : { sort: 'operation', format, operation: named };
    }
    if (isXml(body.type)) return xmlBody(body.text);
    // Scripts send JSON as text/plain to avoid a CORS preflight.
    const isText = body.type === 'text/plain';
    const value = /json/.test(body.type) || body.type === '' || isText ? parseJson(body.text) : undefined;
    if (isText && !isObject(value)) return { sort: 'whole', format: 'text', value: body.text };
    if (value === undefined) return { sort: 'unfit', why: 'its body is neither JSON, XML nor a form' };
    const called = isObject(value) ? calledByHeader(requestHeaders) : undefined;
    const operation =
        called !== undefined && isObject(value)
            ? calling(called, value)
            : operationOf(value, url.pathname, () => parseJson(answer.text ?? ''));
    if (operation !== undefined)
        return 'fault' in operation ? { sort: 'unfit', why: operation.fault } : { sort: 'operation', format: 'json', operation };
    if (!isObject(value) || isByKey(value)) return { sort: 'whole', format: 'json', value };
    return { sort: 'fields', format: 'json', fields: new Map(Object.entries(value).map(([name, item]) => [name, [item]])) };
}

/** Whether an object has no names of fields: its keys are ids of things or operators, such as `{"=": …}`. */
function isByKey(value: JsonObject): boolean {
    const keys = Object.keys(value);
    return keys.length > 0 && keys.every((key) => /^(?:uuid|number|hash)$/.test(formOf(key)) || /^[^\w\s]{1,3}$/.test(key));
}

function xmlBody(text: string): SentBody {
    const read = readXmlBody(text);
    if (read === undefined) return { sort: 'unfit', why: 'its XML cannot be written as a template' };
    const { template, values, method } = read;
    const sent = { format: 'xml', template } as const;
    if (method !== undefined) return { sort: 'operation', ...sent, operation: calling(method, Object.fromEntries(values)) };
    return { sort: 'fields', ...sent, fields: new Map([...values].map(([name, value]) => [name, [value]])) };
}
