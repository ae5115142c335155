import { judgeBySchema } from '../../../shared/domain/json/schema/interpret.ts';
import { isSimple } from '../../../shared/domain/json/schema/simple.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageParam } from '../../../shared/domain/types.ts';
import { identifier } from '../../inspect/naming.ts';
import { cleanText, shown } from '../texts.ts';
import type { Resolver } from './refs.ts';
import { type SchemaReader, typesOf } from './schemas.ts';

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
    for (const param of all) {
        const place = param['in'];
        const fault =
            place === 'query'
                ? addQueryParam(param, out, resolver, schemas)
                : place === 'header'
                  ? addHeader(param, out, resolver)
                  : undefined;
        if (fault !== undefined) return { ok: false, why: fault };
        if (place === 'cookie') out.left.push({ name: shown(String(param['name'])), why: 'A package carries no cookies.' });
    }
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

const PLAIN: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean']);

/** A value in a URL is a text, a number or a boolean; `null` and structures cannot be sent. */
function plainSchema(schema: JsonSchema): JsonSchema {
    if (!isObject(schema)) return { type: 'string' };
    const types = (Array.isArray(schema['type']) ? schema['type'] : [schema['type']]).filter(
        (type): type is string => typeof type === 'string' && PLAIN.has(type),
    );
    const { properties: _p, items: _i, anyOf: _a, required: _r, additionalProperties: _d, ...rest } = schema;
    if (types.length > 0) return { ...withoutNull(rest), type: types.length === 1 ? (types[0] ?? 'string') : types };
    const isStructure = schema['type'] !== undefined || properties(schema);
    return isStructure ? { type: 'string' } : withoutNull(rest);
}

function properties(schema: JsonObject): boolean {
    return schema['properties'] !== undefined || schema['items'] !== undefined;
}

function withoutNull(schema: JsonObject): JsonObject {
    const { enum: choices, ...rest } = schema;
    return Array.isArray(choices) ? { ...rest, enum: choices.filter((choice) => choice !== null) } : rest;
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
    const written = schemaOf(param);
    const resolved = resolver.resolve(written) ?? {};
    const types = typesOf(resolved);
    const style = typeof param['style'] === 'string' ? param['style'] : 'form';
    if (style === 'deepObject' || (types.includes('object') && param['content'] === undefined))
        return leave('Objects cannot be sent in a query.');
    const base = { name, source: 'query' as const, required, ...describedBy(param) };
    if (types.includes('array') && param['content'] === undefined) {
        const isRepeated = style === 'form' && param['explode'] !== false;
        out.params.push(isRepeated ? { ...base, schema: listSchema(resolved, schemas) } : { ...base, ...joined(param, style) });
        return undefined;
    }
    const schema = param['content'] === undefined ? plainSchema(schemas.ofRequest(written)) : { type: 'string' };
    out.params.push({ ...base, schema, ...defaultOf(resolved, schema), ...exampleOf(param) });
    return undefined;
}

function listSchema(list: JsonObject, schemas: SchemaReader): JsonSchema {
    const items = plainSchema(schemas.ofRequest(list['items']));
    return { type: 'array', items: isObject(items) && items['type'] !== undefined ? items : { type: 'string' } };
}

const SIGNS: Readonly<Record<string, string>> = { spaceDelimited: 'blanks', pipeDelimited: 'the sign |' };

function joined(param: JsonObject, style: string): Pick<PackageParam, 'description' | 'schema'> {
    const said = cleanText(param['description'], 400);
    return {
        description: `${said === undefined ? '' : `${said} `}(Several values are joined by ${SIGNS[style] ?? 'commas'}.)`,
        schema: { type: 'string' },
    };
}

/** A header that always says the same can be carried; what a caller would have to say cannot. */
function addHeader(param: JsonObject, out: Collected, resolver: Resolver): string | undefined {
    const name = String(param['name']);
    const lower = name.toLowerCase();
    if (lower === 'accept' || lower === 'content-type' || lower === 'authorization') return undefined;
    const schema = resolver.resolve(schemaOf(param)) ?? {};
    const choices = Array.isArray(schema['enum']) ? schema['enum'] : [];
    const fixed = schema['const'] ?? (choices.length === 1 ? choices[0] : undefined) ?? schema['default'];
    if (typeof fixed === 'string' && param['required'] === true && /^[\x21-\x7e]{1,100}$/.test(fixed)) {
        out.headers[lower] = fixed;
        return undefined;
    }
    const why = 'Params cannot go into headers.';
    if (param['required'] === true && !/auth|token|key|secret|session|signature/i.test(name))
        return `It needs the header ${shown(name)}. ${why}`;
    out.left.push({ name: `header ${shown(name)}`, why });
    return undefined;
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
