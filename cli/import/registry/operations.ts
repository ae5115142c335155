import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { isSafeMethod } from '../../../shared/domain/package/endpoint.ts';
import { headerNameFault } from '../../../shared/domain/package/rules/headers.ts';
import {
    type BodyFormat,
    type Json,
    type JsonObject,
    KINDS,
    type Kind,
    METHODS,
    type Method,
    type PackageEndpoint,
} from '../../../shared/domain/types.ts';
import { nameEndpoint } from '../../inspect/drafts/naming.ts';
import type { LeftOut, NotRead } from '../operation.ts';
import { cleanText, printableName } from '../texts.ts';
import { readAnswer } from './answers.ts';
import { paramNameOf, type ReadTemplate, readTemplate, readTextTemplate } from './body-templates.ts';
import { readParams } from './params.ts';

type ReadResult = { ok: true; endpoint: PackageEndpoint; left: LeftOut[] } | NotRead;

/** Fields of an operation that are read here or that a package does not need. */
const KNOWN: ReadonlySet<string> = new Set(
    (
        'name method url_template purpose description headers query_params params variables body body_template response_schema response_mapping extraction_rules result ' +
        'requirements kind transport is_primary confidence source has_auth'
    ).split(' '),
);

/** Reads one of `endpoints` or `actions` of the format 0.1. @param isAction decides the default method */
export function readOperation(operation: JsonObject, isAction: boolean, names: Set<string>): ReadResult {
    const method = methodOf(operation, isAction);
    if (!METHODS.includes(method as Method)) return { ok: false, why: `A package cannot contain ${printableName(method)} requests.` };
    const template = typeof operation['url_template'] === 'string' ? operation['url_template'].trim() : '';
    const url = urlOf(template);
    if (url === undefined) return { ok: false, why: 'Its url_template is not an http(s) URL, or its host contains a placeholder.' };
    const body = bodyOf(operation);
    if (body !== undefined && !body.ok) return body;
    if (body !== undefined && isSafeMethod(method))
        return { ok: false, why: `A ${method} request has no body, but this one has a body template.` };
    const isForm = body === undefined ? operation['transport'] === 'http_post_form' : body.format === 'form';
    const headers = headersOf(operation['headers']);
    const params = readParams(operation, url, { body: body?.names, headers: headers.filled }, method);
    if (!params.ok) return params;
    const result = objectOf(operation['result']);
    const answer = readAnswer(
        operation['response_schema'] ?? result['response_schema'],
        operation['response_mapping'],
        operation['extraction_rules'],
    );
    const kind = kindOf(operation['kind'], isForm);
    const hasBody = body !== undefined || params.params.some(({ source }) => source === 'body');
    const needs = [...needsOf(operation['requirements']), ...credentialsOf(operation)];
    const endpoint: PackageEndpoint = {
        name: nameEndpoint(typeof operation['name'] === 'string' ? operation['name'] : 'call', names),
        kind: kind === 'paginate' ? 'api_call' : kind,
        ...readDescription(operation),
        method: method as Method,
        url,
        ...(Object.keys(headers.kept).length > 0
            ? { headers: withoutContentType(headers.kept, body?.format ?? (hasBody ? 'json' : undefined)) }
            : {}),
        params: params.params,
        ...(body === undefined ? {} : { body: body.template }),
        ...(hasBody ? { body_format: isForm ? 'form' : (body?.format ?? 'json') } : {}),
        ...(needs.length > 0 ? { hosted: false } : {}),
        ...(Object.keys(answer.response).length > 0 ? { response: answer.response } : {}),
    };
    const unknown = Object.keys(operation).filter((key) => !KNOWN.has(key));
    const left = [
        ...params.left,
        ...headers.left,
        ...answer.left,
        ...needs,
        ...unknown.map((key) => ({ name: printableName(key), why: 'A package has no such field.' })),
    ];
    if (kind === 'paginate')
        left.push({ name: 'kind', why: 'It does not say how to find the next page, so it is imported as api_call; add pagination.' });
    return { ok: true, endpoint, left };
}

export function methodOf({ method, transport }: JsonObject, isAction: boolean): string {
    const written = typeof method === 'string' ? method : isAction && transport !== 'http_get' ? 'POST' : 'GET';
    return written.toUpperCase();
}

/** The path of an operation as a person names it, with `{name}` for `{{name}}`; empty without one. */
export function pathOf({ url_template: template }: JsonObject): string {
    const [, path = ''] = /^https?:\/\/[^/?#]*([^?#]*)/i.exec(typeof template === 'string' ? template.trim() : '') ?? [];
    return path.replaceAll(/\{\{\s*([^{}\s]+)\s*\}\}/g, '{$1}');
}

/** `{{name}}` → `{name}`, in canonical form. */
function urlOf(template: string): string | undefined {
    const names: string[] = [];
    const filled = template.replaceAll(
        /\{\{\s*([^{}\s]+)\s*\}\}|\{([^{}\s]+)\}/g,
        (_whole, double: string | undefined, single: string | undefined) => {
            names.push(paramNameOf(double ?? single ?? ''));
            return `zzplaceholder${names.length - 1}zz`;
        },
    );
    let href = /^https?:\/\//i.test(filled) ? URL.parse(filled)?.href : undefined;
    if (href === undefined || new URL(href).host.includes('zzplaceholder')) return undefined;
    for (const [index, name] of names.entries()) href = href.replaceAll(`zzplaceholder${index}zz`, `{${name}}`);
    return href;
}

function bodyOf(operation: JsonObject): ReadTemplate | undefined {
    const nested = objectOf(operation['body']);
    const text = operation['body_template'] ?? nested['template'];
    if (typeof text !== 'string' || text.trim() === '') return undefined;
    const type = String(nested['content_type'] ?? contentTypeOf(operation['headers']) ?? '');
    if (/multipart|protobuf/i.test(type))
        return { ok: false, why: `Its body is ${printableName(type)}, which cannot be a text with placeholders.` };
    if (/xml\b/i.test(type)) return readTextTemplate(text, 'xml');
    if (/text\/plain/i.test(type)) return readTextTemplate(text, 'text');
    const isForm =
        /x-www-form-urlencoded/i.test(type) ||
        operation['transport'] === 'http_post_form' ||
        (type === '' && /^[^{["\s][^{}"]*=/.test(text));
    return readTemplate(text, isForm);
}

function contentTypeOf(headers: Json | undefined): Json | undefined {
    const entry = Object.entries(objectOf(headers)).find(([name]) => name.toLowerCase() === 'content-type');
    return entry?.[1];
}

interface ReadHeaders {
    kept: Record<string, string>;
    /** Header names → names of the inputs that are their whole values. */
    filled: Map<string, string>;
    left: LeftOut[];
}

function headersOf(headers: Json | undefined): ReadHeaders {
    const read: ReadHeaders = { kept: {}, filled: new Map(), left: [] };
    for (const [written, value] of Object.entries(objectOf(headers))) {
        if (typeof value !== 'string' || value === '') continue;
        const name = written.toLowerCase();
        const input = /^\{\{?\s*([^{}\s]+)\s*\}?\}$/.exec(value.trim())?.[1];
        const leave = (why: string) => read.left.push({ name: `header ${printableName(written)}`, why });
        if (!value.includes('{')) read.kept[name] = value.trim();
        else if (input === undefined) leave('Its value combines text and a placeholder.');
        else if (headerNameFault(name) !== undefined) leave(headerNameFault(name)?.message ?? '');
        else read.filled.set(name, input);
    }
    return read;
}

/** Removes the content-type, unless it is more specific than the format of the body. */
function withoutContentType(headers: Record<string, string>, format: BodyFormat | undefined): Record<string, string> {
    const telling =
        format === 'xml' ? /^(?:text|application)\/(?:[\w.-]+\+)?xml/ : format === 'json' ? /^application\/[\w.-]+\+json/ : undefined;
    return Object.fromEntries(Object.entries(headers).filter(([name, value]) => name !== 'content-type' || telling?.test(value) === true));
}

function kindOf(kind: Json | undefined, isForm: boolean): Kind {
    const known = KINDS.find((one) => one === kind);
    return known ?? (isForm ? 'submit_form' : 'api_call');
}

function needsOf(requirements: Json | undefined): LeftOut[] {
    const { auth, session, js } = objectOf(requirements);
    const needs: LeftOut[] = [];
    if (typeof auth === 'string' && auth !== '' && auth !== 'public_only' && auth !== 'none')
        needs.push({
            name: 'requirements.auth',
            why: 'A package contains no credentials, so callers must send this request themselves (hosted: false).',
        });
    if (typeof session === 'string' && session !== '' && session !== 'none')
        needs.push({ name: 'requirements.session', why: 'A package contains no session; prepare can fetch a page first for its cookies.' });
    if (typeof js === 'string' && js !== '' && js !== 'not_required' && js !== 'optional')
        needs.push({ name: 'requirements.js', why: 'Scripts of the site are not run.' });
    return needs;
}

/** Inputs that are credentials. Callers cannot send them as params, so the operation gets `hosted: false`. */
function credentialsOf(operation: JsonObject): LeftOut[] {
    const inputs = [operation['variables'], operation['params']].flatMap(listOf).filter(isObject);
    return inputs
        .filter(
            ({ source, in: place, credential }) =>
                [source, place].includes('credential') || (credential !== undefined && credential !== false),
        )
        .map(({ name }) => ({
            name: `param ${printableName(String(name))}`,
            why: 'It is a credential, which cannot be a param: declare it in auth and remove hosted: false.',
        }));
}

function readDescription(operation: JsonObject): { description?: string } {
    const texts = [cleanText(operation['purpose'], 400), cleanText(operation['description'], 2000)].filter((text) => text !== undefined);
    return texts.length === 0 ? {} : { description: [...new Set(texts)].join('\n\n') };
}
