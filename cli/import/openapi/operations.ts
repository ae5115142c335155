import { isObject, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { headerNameFault } from '../../../shared/domain/package/rules/headers.ts';
import type { Json, JsonObject, Kind, Method, PackageAuth, PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';
import { nameEndpoint } from '../../inspect/drafts/naming.ts';
import { identifier } from '../../inspect/words/identifier.ts';
import type { LeftOut, NotRead } from '../operation.ts';
import { cleanText, printableName } from '../texts.ts';
import { readAnswer } from './answers.ts';
import { readBody } from './bodies.ts';
import { NO_COOKIES, readParams, withBraces } from './params.ts';
import type { DocumentReader } from './schemas.ts';
import type { Access, CredentialParam, Schemes } from './security.ts';

interface Operation {
    method: string;
    path: string;
    item: JsonObject;
    operation: JsonObject;
    base: string;
}

interface OperationContext {
    reader: DocumentReader;
    /** The document's `security`, for operations without their own. */
    security: Json | undefined;
    schemes: Schemes;
    /** Endpoint names that are already used. */
    names: Set<string>;
}

type ReadOperationResult = { ok: true; endpoint: PackageEndpoint; auth: readonly PackageAuth[]; left: LeftOut[] } | NotRead;

const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
const MAX_URL = 2048;

/** Converts one operation to an endpoint, or returns a sentence that says why a package cannot contain it. */
export function readOperation(found: Operation, context: OperationContext): ReadOperationResult {
    const { method, item, operation, base } = found;
    const { reader } = context;
    if (!KNOWN_METHODS.has(method)) return { ok: false, why: `A package cannot contain ${method} requests.` };
    // AWS documents append `#…` to a path to tell operations apart; the request does not need it.
    const lists = [item['parameters'], operation['parameters']];
    const path = withBraces(found.path.split('#', 1)[0] ?? '', lists, reader);
    const declared = context.schemes.accessOf(operation['security'] ?? context.security);
    const params = readParams(lists, path, declared.entries, reader);
    if (!params.ok) return params;
    const access =
        declared.entries.length === 0 && declared.fault === undefined ? context.schemes.accessByParams(params.credentials) : declared;
    const written = operation['requestBody'];
    const request = reader.resolve(written);
    if (written !== undefined && request === undefined) return { ok: false, why: 'Its body refers to nothing in this document.' };
    const body = readBody(request, method, new Set(params.params.map(({ name }) => name)), reader);
    if (!body.ok) return body;
    const answer = readAnswer(operation['responses'], reader);
    if (!answer.ok) return answer;
    const url = urlOf(base, path, params);
    if (url === undefined) return { ok: false, why: 'Its path does not make a valid URL.' };
    const headers = {
        ...params.headers,
        ...(answer.accept === undefined ? {} : { accept: answer.accept }),
        ...(body.contentType === undefined ? {} : { 'content-type': body.contentType }),
    };
    const described = readDescription(operation);
    const isChange = method === 'GET' && saysChange(operation);
    // An operation that sends files or changes something is a write, so it is no `search`.
    const kind = body.format === 'multipart' || isChange ? 'api_call' : kindOf(method, path, params.params, answer.response.type);
    const endpoint: PackageEndpoint = {
        name: nameEndpoint(wantedName(operation, method, path), context.names),
        kind,
        ...described,
        method: method as Method,
        url,
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
        params: [...params.params, ...body.params],
        ...(body.template === undefined ? {} : { body: body.template }),
        ...(body.format !== 'json' && body.params.length > 0 ? { body_format: body.format } : {}),
        ...(body.isOptional && body.params.length > 0 ? { body_required: false } : {}),
        ...(access.fault === undefined ? {} : { hosted: false }),
        ...(isChange ? { effect: 'write' } : {}),
        auth: access.need,
        ...(access.scopes.length === 0 ? {} : { scopes: [...access.scopes] }),
        ...(Object.keys(answer.response).length > 0 ? { response: answer.response } : {}),
        ...(isChange ? {} : pagesOf(operation, params.params, method, answer.response)),
    };
    const example = access.fault === undefined && method === 'GET' && !isChange ? exampleParams(params.params) : undefined;
    return {
        ok: true,
        endpoint: example === undefined ? endpoint : { ...endpoint, examples: [{ params: example }] },
        auth: access.entries,
        left: [...params.left, ...body.left, ...unusedOf(params.credentials, access), ...leftOf(operation, access)],
    };
}

/** The URL template in canonical form, with the placeholder names of the package. */
function urlOf(
    base: string,
    path: string,
    { placeholders, prefixes }: { placeholders: ReadonlyMap<string, string>; prefixes: ReadonlyMap<string, string> },
): string | undefined {
    const pieces = path
        .split(/\{([^{}]+)\}/)
        .map((piece, place) =>
            place % 2 === 0
                ? encodeURI(piece.toWellFormed()).replaceAll('%25', '%')
                : `${prefixes.get(piece) ?? ''}{${placeholders.get(piece) ?? piece}}`,
        );
    const template = `${base}${pieces.join('')}`;
    const names = [...placeholders.values()];
    // The URL parser would encode braces, so plain names stand in for the placeholders while it runs.
    let filled = template;
    for (const [index, name] of names.entries()) filled = filled.replaceAll(`{${name}}`, `zzplaceholder${index}zz`);
    let href = URL.parse(filled)?.href;
    if (href === undefined) return undefined;
    for (const [index, name] of names.entries()) href = href.replaceAll(`zzplaceholder${index}zz`, `{${name}}`);
    return href.length > MAX_URL ? undefined : href;
}

/** Headers and cookies with credentials that the entries of `auth` do not send. */
function unusedOf(credentials: readonly CredentialParam[], { entries }: Access): LeftOut[] {
    return credentials
        .filter(({ name }) => !entries.some((entry) => (entry.name ?? 'authorization').toLowerCase() === name.toLowerCase()))
        .map(({ type, name }) =>
            type === 'cookie'
                ? { name: printableName(name), why: NO_COOKIES }
                : { name: `header ${printableName(name)}`, why: headerNameFault(name.toLowerCase())?.message ?? '' },
        );
}

function leftOf(operation: JsonObject, { fault }: Access): LeftOut[] {
    const left: LeftOut[] = [];
    if (fault !== undefined) left.push({ name: 'security', why: `${fault} Callers must send it themselves (hosted: false).` });
    if (isObject(operation['callbacks'])) left.push({ name: 'callbacks', why: 'A package cannot describe calls from the site to others.' });
    return left;
}

function kindOf(method: string, path: string, params: readonly PackageParam[], type: string | undefined): Kind {
    const last = path.split('/').findLast((segment) => segment !== '' && !segment.includes('{')) ?? '';
    const hasWords = params.some(
        ({ name, source }) => source === 'query' && /^(?:q|query|search|keywords?|terms?|text|search_?(?:term|text|query))$/i.test(name),
    );
    if ((method === 'GET' && hasWords) || (/^_?search$/i.test(last) && (method === 'GET' || method === 'POST'))) return 'search';
    return method === 'GET' && type === 'html' ? 'navigate' : 'api_call';
}

function wantedName(operation: JsonObject, method: string, path: string): string {
    const id = typeof operation['operationId'] === 'string' ? identifier(operation['operationId']) : '';
    return id === '' ? `${method.toLowerCase()}_${identifier(path) || 'root'}` : id;
}

/** Whether a GET request changes something by its own words, as in programs that do everything by GET. Names alone do not say so. */
function saysChange({ summary, description }: JsonObject): boolean {
    return CHANGE.test(cleanText(summary, 300) ?? cleanText(description, 300) ?? '');
}

/** Verbs of change at the beginning of a sentence, without words that are nouns as well: `Block`, `Set`, `Stop times`, `Updates`, `Edit history`. */
const CHANGE =
    /^(?:update|(?:add|append|assign|cancel|create|deactivate|delete|destroy|disable|enable|insert|modify|purge|remove|rename|restart|revoke|send|submit|unlink|unset|unsubscribe)s?) /i;

/** What generators write where nobody described the operation. */
const SAYS_NOTHING = /^(?:ok|success(?:ful(?:ly)?)?(?: (?:operation|response))?)[.!]?$/i;

function readDescription(operation: JsonObject): { description?: string } {
    const [summary, description] = [cleanText(operation['summary'], 300), cleanText(operation['description'], 1200)].map((text) =>
        text !== undefined && SAYS_NOTHING.test(text) ? undefined : text,
    );
    const texts = [
        operation['deprecated'] === true ? 'Deprecated.' : undefined,
        summary,
        description === summary ? undefined : description,
    ];
    const whole = texts.filter((text) => text !== undefined).join('\n\n');
    return whole === '' ? {} : { description: whole };
}

/** The params of an example call, from the document's examples. Undefined if a required param has no example. */
function exampleParams(params: readonly PackageParam[]): JsonObject | undefined {
    const needed = params.filter(({ required, default: standard }) => required && standard === undefined);
    if (needed.some(({ example }) => example === undefined)) return undefined;
    return Object.fromEntries(needed.map(({ name, example }) => [name, example ?? null]));
}

/** Query params that hold the position of the next page in its URL. */
const CARRIES_PLACE = /^\$?(?:skip_?token|continuation(?:_?token)?|next_?(?:token|marker)|page_?token|marker|cursor)$/i;

/**
 * How the pages of an operation are followed, if the document marks it as pageable: the answer has a field with the address of the next
 * page, of which a param carries the place, and a field with the items. Only reads are followed, and only fields that the answer has.
 */
function pagesOf(
    { 'x-ms-pageable': pageable }: JsonObject,
    params: readonly PackageParam[],
    method: string,
    { type, schema }: NonNullable<PackageEndpoint['response']>,
): Pick<PackageEndpoint, 'pagination' | 'billing'> {
    const carrier = params.find(({ name, source }) => source === 'query' && CARRIES_PLACE.test(name));
    if (!isObject(pageable) || carrier === undefined || method !== 'GET' || type !== 'json') return {};
    const { nextLinkName: next, itemName: results = 'value' } = pageable;
    if (typeof next !== 'string' || typeof results !== 'string') return {};
    const fields = objectOf(objectOf(schema)['properties']);
    if (!Object.hasOwn(fields, next) || !Object.hasOwn(fields, results) || !/^[A-Za-z_]\w*$/.test(results)) return {};
    return {
        pagination: { style: 'cursor', param: carrier.name, next: /^[A-Za-z_]\w*$/.test(next) ? next : JSON.stringify(next) },
        billing: { unit: 'request', results },
    };
}
