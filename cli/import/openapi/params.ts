import { MAX_HEADER_TEXT } from '../../../shared/domain/fetch/param-place.ts';
import { isVisibleAscii } from '../../../shared/domain/fetch/visible-ascii.ts';
import { judgeBySchema } from '../../../shared/domain/json/schema/interpret.ts';
import { isSimple } from '../../../shared/domain/json/schema/simple.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { headerNameFault } from '../../../shared/domain/package/rules/headers.ts';
import type { Json, JsonObject, JsonSchema, PackageParam } from '../../../shared/domain/types.ts';
import { identifier } from '../../inspect/naming.ts';
import { cleanText, shown } from '../texts.ts';
import { plainSchema } from './plain-schema.ts';
import type { Resolver } from './refs.ts';
import type { SchemaReader } from './schemas.ts';
import { readStructure, styled } from './styles.ts';

/** The params of an operation that do not stand in a body, or why there is no operation without one that cannot be carried. */
export type ReadParams =
    | {
          ok: true;
          params: PackageParam[];
          headers: Record<string, string>;
          placeholders: Map<string, string>;
          left: { name: string; why: string }[];
      }
    | { ok: false; why: string };

/** Names that a package takes (docs/api.md, "Schema packages"). */
export const PARAM_NAME = /^[!-z|~]{1,64}$/;

interface Collected {
    params: PackageParam[];
    headers: Record<string, string>;
    /** Name in the document → name in the package, for path params. */
    placeholders: Map<string, string>;
    left: { name: string; why: string }[];
}

/** Reads the parameters of a path and of its operation, whose own win. */
export function readParams(lists: readonly (Json | undefined)[], path: string, resolver: Resolver, schemas: SchemaReader): ReadParams {
    const found = new Map<string, JsonObject>();
    for (const item of lists.flatMap((list): Json[] => (Array.isArray(list) ? list : []))) {
        const param = resolver.resolve(item);
        if (param === undefined) return { ok: false, why: 'A parameter refers to nothing in this document.' };
        if (typeof param['name'] === 'string' && typeof param['in'] === 'string') found.set(`${param['in']} ${param['name']}`, param);
    }
    const out: Collected = { params: [], headers: {}, placeholders: new Map(), left: [] };
    const all = [...found.values()];
    const taken = new Set(all.filter((param) => param['in'] !== 'path').map((param) => String(param['name'])));
    for (const name of namesIn(path)) {
        const param = found.get(`path ${name}`);
        const style = param?.['style'];
        if (style !== undefined && style !== 'simple')
            return {
                ok: false,
                why: `The path parameter ${shown(name)} has the style ${shown(String(style))}, which a template cannot hold.`,
            };
        addPathParam(name, param, taken, out, schemas);
    }
    const inPlace = (place: string) => all.filter((param) => param['in'] === place);
    for (const param of inPlace('query')) {
        const fault = addQueryParam(param, out, resolver, schemas);
        if (fault !== undefined) return { ok: false, why: fault };
    }
    // Behind the others: a header can go by another name.
    for (const param of inPlace('header')) {
        const fault = addHeader(param, out, resolver, schemas);
        if (fault !== undefined) return { ok: false, why: fault };
    }
    for (const param of inPlace('cookie')) out.left.push({ name: shown(String(param['name'])), why: 'A package carries no cookies.' });
    return { ok: true, ...out };
}

/** Names between braces, each once; `+` and `*` of URI templates aside. */
export function namesIn(path: string): string[] {
    return [...new Set([...path.matchAll(/\{([^{}]+)\}/g)].map((match) => match[1] ?? ''))];
}

function addPathParam(name: string, param: JsonObject | undefined, taken: Set<string>, out: Collected, schemas: SchemaReader): void {
    const plain = /^[A-Za-z_][A-Za-z0-9_]{0,60}$/.test(name) ? name : identifier(name) || 'value';
    let unique = plain;
    for (let count = 2; taken.has(unique); count++) unique = `${plain}_${count}`;
    taken.add(unique);
    out.placeholders.set(name, unique);
    const schema = plainSchema(schemas.ofRequest(schemaOf(param)));
    out.params.push({ name: unique, source: 'path', required: true, ...describedBy(param), schema, ...exampleOf(param) });
    if (param === undefined) out.left.push({ name: shown(name), why: 'The document does not describe it; it was taken for a text.' });
}

function addQueryParam(param: JsonObject, out: Collected, resolver: Resolver, schemas: SchemaReader): string | undefined {
    const name = String(param['name']);
    const required = param['required'] === true;
    const leave = (why: string) => {
        if (required) return `It needs the query parameter ${shown(name)}. ${why}`;
        out.left.push({ name: shown(name), why });
        return undefined;
    };
    if (!PARAM_NAME.test(name)) return leave('Its name has characters that the name of a param may not have.');
    const base = { name, source: 'query' as const, required, ...describedBy(param) };
    const isJson = param['content'] !== undefined;
    const structure = isJson ? undefined : readStructure(name, schemaOf(param), param, { resolver, schemas });
    if (structure !== undefined) {
        if (!structure.ok) return leave(structure.why);
        out.left.push(...structure.left);
        out.params.push({ ...base, schema: structure.schema, ...styled(structure) });
        return undefined;
    }
    const schema = isJson ? { type: 'string' } : plainSchema(schemas.ofRequest(schemaOf(param)));
    out.params.push({ ...base, schema, ...defaultOf(resolver.resolve(schemaOf(param)) ?? {}, schema), ...exampleOf(param) });
    return undefined;
}

/** OpenAPI takes these from elsewhere in a document. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);
/** These are sent with every request, whatever a document says of them. */
const SENT_ANYWAY: ReadonlySet<string> = new Set(['user-agent', 'host', 'connection', 'content-length', 'accept-encoding']);

/** A required header that always says the same is fixed; any other one is the caller's to say, as far as a package may let them. */
function addHeader(param: JsonObject, out: Collected, resolver: Resolver, schemas: SchemaReader): string | undefined {
    const written = String(param['name']);
    const lower = written.toLowerCase();
    if (SAID_ELSEWHERE.has(lower)) return undefined;
    const required = param['required'] === true;
    const leave = (why: string) => {
        if (required && !SENT_ANYWAY.has(lower) && !/auth|token|key|secret|session|signature/i.test(written))
            return `It needs the header ${shown(written)}. ${why}`;
        out.left.push({ name: `header ${shown(written)}`, why });
        return undefined;
    };
    const fault = PARAM_NAME.test(written) ? headerNameFault(lower)?.message : 'Its name is longer than that of a param may be.';
    if (fault !== undefined) return leave(fault);
    const resolved = resolver.resolve(schemaOf(param)) ?? {};
    const fixed = onlyChoice(resolved);
    if (required && fixed !== undefined) {
        out.headers[lower] = fixed;
        return undefined;
    }
    // Names of headers do not differ by case, those of params do.
    const name = [written, written.toUpperCase()].find((one) => !out.params.some((other) => other.name === one));
    if (name === undefined) return leave('Another param has this name.');
    const schema = plainSchema(schemas.ofRequest(schemaOf(param)));
    out.params.push({
        name,
        source: 'header',
        required,
        ...describedBy(param),
        schema,
        ...defaultOf(resolved, schema),
        ...exampleOf(param),
    });
    return undefined;
}

/** The one text that a schema lets through, where a header can hold it. */
function onlyChoice(schema: JsonObject): string | undefined {
    const choices = Array.isArray(schema['enum']) ? schema['enum'] : [];
    const only = schema['const'] ?? (choices.length === 1 ? choices[0] : undefined);
    return typeof only === 'string' && isVisibleAscii(only, MAX_HEADER_TEXT) ? only : undefined;
}

function schemaOf(param: JsonObject | undefined): Json | undefined {
    return param?.['schema'];
}

function describedBy(param: JsonObject | undefined): { description?: string } {
    const description = cleanText(param?.['description'], 600);
    return description === undefined ? {} : { description };
}

function defaultOf(schema: JsonObject, bound: JsonSchema): { default?: Json } {
    const value = schema['default'];
    return isFit(value, bound) ? { default: value } : {};
}

function exampleOf(param: JsonObject | undefined): { example?: Json } {
    const schema = param?.['schema'];
    const value = param?.['example'] ?? (isObject(schema) ? schema['example'] : undefined);
    return isFit(value, isObject(schema) ? plainSchema({ ...(typeof schema['type'] === 'string' ? { type: schema['type'] } : {}) }) : true)
        ? { example: value }
        : {};
}

function isFit(value: Json | undefined, schema: JsonSchema): value is Json {
    if (value === undefined || value === '' || !['string', 'number', 'boolean'].includes(typeof value)) return false;
    return (typeof value !== 'string' || value.length <= 200) && isSimple(schema) && judgeBySchema(schema, value);
}
