import { MAX_HEADER_TEXT } from '../../../shared/domain/fetch/param-place.ts';
import { isVisibleAscii } from '../../../shared/domain/fetch/visible-ascii.ts';
import { isObject, listOf } from '../../../shared/domain/json/schema/structure.ts';
import { headerNameFault } from '../../../shared/domain/package/rules/headers.ts';
import type { Json, JsonObject, JsonSchema, PackageAuth, PackageParam } from '../../../shared/domain/types.ts';
import { identifier } from '../../inspect/words/identifier.ts';
import type { LeftOut, NotRead } from '../operation.ts';
import { cleanText, printableName } from '../texts.ts';
import { isFit, plainSchema } from './plain-schema.ts';
import { type DocumentReader, typesOf } from './schemas.ts';
import { type CredentialParam, isCookieName } from './security.ts';
import { keepStyle, readStructure } from './styles.ts';

/** The params of an operation besides those of the body, or why the operation cannot be imported. */
type ReadParams = ({ ok: true } & Collected) | NotRead;

/** Valid param names (docs/api.md, "Schema packages"). */
export const PARAM_NAME = /^[!-z|~]{1,64}$/;

interface Collected {
    params: PackageParam[];
    headers: Record<string, string>;
    /** Names of path params: in the document → in the package. */
    placeholders: Map<string, string>;
    /** The texts that the styles label and matrix put before the value of a path param, by its name in the document. */
    prefixes: Map<string, string>;
    /** Headers and cookies with credentials. They do not become params. */
    credentials: CredentialParam[];
    left: LeftOut[];
}

interface Collecting {
    out: Collected;
    reader: DocumentReader;
}

/**
 * Reads the parameters of a path and of its operation. Those of the operation override those of the path.
 * @param auth credentials that connections send; parameters with their names are left out
 */
export function readParams(
    lists: readonly (Json | undefined)[],
    path: string,
    auth: readonly PackageAuth[],
    reader: DocumentReader,
): ReadParams {
    const found = declaredIn(lists, reader);
    if (!(found instanceof Map)) return found;
    const out: Collected = { params: [], headers: {}, placeholders: new Map(), prefixes: new Map(), credentials: [], left: [] };
    const all = [...found.values()].filter((param) => !isCredential(param, auth));
    const inPlace = (place: string) => all.filter((param) => param['in'] === place);
    const taken = new Set(all.filter((param) => param['in'] !== 'path').map((param) => String(param['name'])));
    for (const name of namesIn(path)) {
        const param = found.get(`path ${name}`) ?? found.get(`path ${plainName(name)}`);
        const fault = addPathParam(name, param, { out, reader, taken });
        if (fault !== undefined) return { ok: false, why: fault };
    }
    for (const param of inPlace('path')) {
        const name = String(param['name']);
        const isInPath = [...out.placeholders.keys()].some((one) => one === name || plainName(one) === name);
        if (!isInPath) out.left.push({ name: printableName(name), why: 'The path has no place for it.' });
    }
    // Headers come last, since only a header param can take another name.
    for (const [place, add] of [['query', addQueryParam] as const, ['header', addHeader] as const]) {
        for (const param of inPlace(place)) {
            const fault = add(param, { out, reader });
            if (fault !== undefined) return { ok: false, why: fault };
        }
    }
    for (const param of inPlace('cookie')) {
        const name = String(param['name']);
        if (param['required'] === true && isCookieName(name))
            out.credentials.push({ type: 'cookie', name, required: true, ...describedBy(param, reader) });
        else out.left.push({ name: printableName(name), why: NO_COOKIES });
    }
    return { ok: true, ...out };
}

export const NO_COOKIES = 'A package contains no cookies.';

/** The parameters by place and name. The members of an object do not override a parameter of the same list. */
function declaredIn(lists: readonly (Json | undefined)[], reader: DocumentReader): Map<string, JsonObject> | NotRead {
    const found = new Map<string, JsonObject>();
    for (const list of lists) {
        const own = new Map<string, JsonObject>();
        for (const item of listOf(list)) {
            const param = reader.resolve(item);
            if (param === undefined) {
                const ref = isObject(item) && typeof item['$ref'] === 'string' ? ` (${printableName(item['$ref'])})` : '';
                return { ok: false, why: `A parameter refers to nothing in this document${ref}.` };
            }
            if (typeof param['name'] !== 'string' || typeof param['in'] !== 'string') continue;
            for (const one of membersOfParam(param, reader)) {
                const key = `${one['in']} ${one['name']}`;
                if (one === param || !own.has(key)) own.set(key, one);
            }
        }
        for (const [key, one] of own) found.set(key, one);
    }
    return found;
}

/**
 * An object in a query is usually exploded: each member is sent as a parameter of its own. Objects without named members, or with members
 * in parts of the schema, are left as they are, since some of what they send would be lost.
 */
function membersOfParam(param: JsonObject, reader: DocumentReader): JsonObject[] {
    const { in: place, style = 'form', explode = true, required } = param;
    const schema = reader.resolve(schemaOf(param)) ?? {};
    const { properties, required: needed } = schema;
    if (place !== 'query' || style !== 'form' || explode !== true || !isObject(properties)) return [param];
    if (Object.keys(properties).length === 0 || ['allOf', 'oneOf', 'anyOf'].some((keyword) => keyword in schema)) return [param];
    const names = new Set(required === true && Array.isArray(needed) ? needed : []);
    return Object.entries(properties).map(([name, schema]) => ({ name, in: place, required: names.has(name), schema }));
}

/** Whether a connection sends this parameter, so that it is not a param. */
function isCredential(param: JsonObject, auth: readonly PackageAuth[]): boolean {
    const name = String(param['name']).toLowerCase();
    return auth.some((entry) => entry.type === param['in'] && entry.name?.toLowerCase() === name);
}

/** A path with params in the form of routers, `/pets/:id`, rewritten with braces if the document describes such a param. */
export function withBraces(path: string, lists: readonly (Json | undefined)[], reader: DocumentReader): string {
    if (!path.includes('/:')) return path;
    const params = lists.flatMap(listOf).map((item) => reader.resolve(item));
    const names = new Set(params.filter((param) => param?.['in'] === 'path').map((param) => param?.['name']));
    return path.replaceAll(/\/:(\w+)/g, (whole, name: string) => (names.has(name) ? `/{${name}}` : whole));
}

/** The names between braces, each once. */
function namesIn(path: string): string[] {
    return [...new Set([...path.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] ?? ''))];
}

/** The name in a placeholder of the styles `{+name}`, `{name*}` and `{name:[0-9]+}`. */
function plainName(placeholder: string): string {
    return placeholder.replace(/^\+/, '').replace(/(?:\*|:.*)$/s, '');
}

/** Whether a value of a path param may contain slashes, as names of resources and paths of files do. */
function hasSegments(name: string, param: JsonObject | undefined, schema: JsonObject | undefined): boolean {
    const { pattern } = schema ?? {};
    const isInPattern = typeof pattern === 'string' && pattern.replaceAll(/\[(?:[^\]\\]|\\.)*\]/g, '').includes('/');
    return /^\+|\*$/.test(name) || param?.['x-multi-segment'] === true || isInPattern;
}

/** @returns why the operation cannot be imported; undefined if it can */
function addPathParam(name: string, param: JsonObject | undefined, { out, reader, taken }: Collecting & { taken: Set<string> }) {
    const style = param?.['style'] ?? 'simple';
    const isPlain = !typesOf(reader.resolve(schemaOf(param)) ?? {}).some((type) => type === 'array' || type === 'object');
    if (isPlain && style === 'label') out.prefixes.set(name, '.');
    else if (isPlain && style === 'matrix') out.prefixes.set(name, `;${encodeURIComponent(name.toWellFormed())}=`);
    else if (style !== 'simple')
        return `The path parameter ${printableName(name)} has the style ${printableName(String(style))}, which a URL template cannot express.`;
    const bare = plainName(name);
    const plain = /^[A-Za-z_][A-Za-z0-9_]{0,60}$/.test(bare) ? bare : identifier(bare) || 'value';
    let unique = plain;
    for (let count = 2; taken.has(unique); count++) unique = `${plain}_${count}`;
    taken.add(unique);
    out.placeholders.set(name, unique);
    const schema = withoutEmpty(plainSchema(reader.ofRequest(schemaOf(param))));
    out.params.push({
        name: unique,
        source: 'path',
        required: true,
        ...describedBy(param, reader),
        schema,
        ...(hasSegments(name, param, reader.resolve(schemaOf(param))) ? { segments: true } : {}),
        ...exampleOf(param, reader, schema),
    });
    if (param === undefined)
        out.left.push({ name: printableName(name), why: 'The document does not describe it, so it is imported as a text.' });
    return undefined;
}

/** Removes the empty text from the allowed values, since a path segment is never empty. */
function withoutEmpty(schema: JsonSchema): JsonSchema {
    const choices = isObject(schema) ? schema['enum'] : undefined;
    const left = Array.isArray(choices) ? choices.filter((choice) => choice !== '') : [];
    return left.length === 0 ? schema : { ...(schema as JsonObject), enum: left };
}

function addQueryParam(param: JsonObject, { out, reader }: Collecting): string | undefined {
    const name = String(param['name']);
    const required = param['required'] === true;
    const leave = (why: string) => {
        if (required) return `It needs the query parameter ${printableName(name)}. ${why}`;
        out.left.push({ name: printableName(name), why });
        return undefined;
    };
    if (!PARAM_NAME.test(name)) return leave('Its name has characters that the name of a param may not have.');
    const isJson = param['content'] !== undefined;
    const described = describedBy(param, reader);
    const base = { name, source: 'query' as const, required, ...(isJson ? asJsonText(described) : described) };
    const structure = isJson ? undefined : readStructure(name, schemaOf(param), param, reader);
    if (structure !== undefined) {
        if (!structure.ok) return leave(structure.why);
        out.left.push(...structure.left);
        const { style } = structure;
        const example = style === 'deepObject' ? {} : listExampleOf(param, reader, structure.schema);
        out.params.push({ ...base, schema: structure.schema, ...keepStyle(structure), ...example });
        return undefined;
    }
    const schema = isJson ? { type: 'string' } : plainSchema(reader.ofRequest(schemaOf(param)));
    const resolved = reader.resolve(schemaOf(param)) ?? {};
    const standard = (required ? onlyValue(resolved, schema) : undefined) ?? defaultOf(resolved, schema);
    out.params.push({ ...base, schema, ...standard, ...exampleOf(param, reader, schema) });
    return undefined;
}

/** Headers that OpenAPI describes elsewhere. It ignores parameters with these names. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);
/** Headers that every request has. Parameters with these names are left out. */
const SENT_ANYWAY: ReadonlySet<string> = new Set(['user-agent', 'host', 'connection', 'content-length', 'accept-encoding']);

/**
 * A required header with one allowed value becomes a fixed header. Any other header becomes a param, if the rules allow its name.
 * @returns why the operation cannot be imported; undefined if it can
 */
function addHeader(param: JsonObject, { out, reader }: Collecting): string | undefined {
    const written = String(param['name']);
    const lower = written.toLowerCase();
    const required = param['required'] === true;
    if (PARAM_NAME.test(written) && headerNameFault(lower) !== undefined && headerNameFault(lower, { isCredential: true }) === undefined) {
        out.credentials.push({ type: 'header', name: written, required, ...describedBy(param) });
        return undefined;
    }
    if (SAID_ELSEWHERE.has(lower)) return undefined;
    const leave = (why: string) => {
        if (required && !SENT_ANYWAY.has(lower)) return `It needs the header ${printableName(written)}. ${why}`;
        out.left.push({ name: `header ${printableName(written)}`, why });
        return undefined;
    };
    const fault = PARAM_NAME.test(written) ? headerNameFault(lower)?.message : 'Its name is longer than that of a param may be.';
    if (fault !== undefined) return leave(fault);
    const resolved = reader.resolve(schemaOf(param)) ?? {};
    const fixed = onlyChoice(resolved);
    if (required && fixed !== undefined) {
        out.headers[lower] = fixed;
        return undefined;
    }
    // Header names ignore case and param names do not, so upper case can avoid a conflict.
    const name = [written, written.toUpperCase()].find((one) => !out.params.some((other) => other.name === one));
    if (name === undefined) return leave('Another param has this name.');
    const schema = plainSchema(reader.ofRequest(schemaOf(param)));
    out.params.push({
        name,
        source: 'header',
        required,
        ...describedBy(param, reader),
        schema,
        ...defaultOf(resolved, schema),
        ...exampleOf(param, reader, schema),
    });
    return undefined;
}

/** The only text that a schema allows, if a header can contain it. */
function onlyChoice(schema: JsonObject): string | undefined {
    const choices = listOf(schema['enum']);
    const only = schema['const'] ?? (choices.length === 1 ? choices[0] : undefined);
    return typeof only === 'string' && isVisibleAscii(only, MAX_HEADER_TEXT) ? only : undefined;
}

function schemaOf(param: JsonObject | undefined): Json | undefined {
    return param?.['schema'];
}

/** The description of a parameter, else of its schema. One beside a reference, as OpenAPI 3.1 allows it, is about this parameter. */
export function describedBy(param: JsonObject | undefined, reader?: DocumentReader, max = 600): { description?: string } {
    const schema = schemaOf(param);
    const texts = [param, schema, reader?.resolve(schema)].map((part) => (isObject(part) ? part['description'] : undefined));
    for (const text of texts) {
        const description = cleanText(text, max);
        if (description !== undefined) return { description };
    }
    return {};
}

/** The description of a param whose value is sent as JSON text. */
export function asJsonText({ description }: { description?: string }): { description: string } {
    return { description: [description, 'JSON, as a text.'].filter((text) => text !== undefined).join('\n\n') };
}

/** A required value with one choice becomes optional, with that choice as default. */
export function onlyValue(schema: JsonObject, bound: JsonSchema): { default: Json; required: false } | undefined {
    const [only, ...others] = listOf(schema['enum']);
    return others.length === 0 && isFit(only, bound) ? { default: only, required: false } : undefined;
}

function defaultOf(schema: JsonObject, bound: JsonSchema): { default?: Json } {
    const value = schema['default'];
    return isFit(value, bound) ? { default: value } : {};
}

/** The first valid example of the parameter or of its schema. */
function exampleOf(param: JsonObject | undefined, reader: DocumentReader, bound: JsonSchema): { example?: Json } {
    const value = examplesOf(param, reader).find((one) => isFit(one, bound));
    return value === undefined ? {} : { example: value };
}

/** An example of a list, if all its items are valid. */
function listExampleOf(param: JsonObject, reader: DocumentReader, bound: JsonSchema): { example?: Json } {
    const items = isObject(bound) ? (bound['items'] as JsonSchema | undefined) : undefined;
    const value = examplesOf(param, reader).find(
        (one) => Array.isArray(one) && one.length > 0 && one.length <= 20 && one.every((item) => isFit(item, items ?? {})),
    );
    return value === undefined ? {} : { example: value };
}

/** The examples of a document, the most reliable first. */
export function examplesOf(param: JsonObject | undefined, reader: DocumentReader): Json[] {
    const schema = reader.resolve(schemaOf(param));
    const named = isObject(param?.['examples']) ? Object.values(param['examples']) : [];
    const ofNamed = named.slice(0, 10).map((one) => reader.resolve(one)?.['value']);
    const ofSchema = Array.isArray(schema?.['examples']) ? schema['examples'].slice(0, 10) : [];
    return [param?.['example'], ...ofNamed, schema?.['example'], ...ofSchema].filter((one) => one !== undefined);
}
