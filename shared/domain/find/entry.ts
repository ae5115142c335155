import { isObject, typesOf } from '../json/schema/structure.ts';
import { needOf } from '../package/auth.ts';
import { isRequiredParam } from '../package/param-schema.ts';
import { clip } from '../text/clip.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Kind, Method, PackageDocument, Param } from '../types.ts';

/** The stored part of an endpoint that lists show and that owner policies are checked against. Stored as JSON. */
export interface EndpointEntry {
    title: string;
    description: string;
    required: { name: string; type: string; description: string; example: Json }[];
    optional: string[];
    /** Paths of the returned fields, such as `items[].title`. */
    fields: string[];
    hosted: boolean;
    unit: 'request' | 'result';
    maxResults: number;
    needsConnection: boolean;
    /** The params of an example; null if there is none or it is very long. */
    example: JsonObject | null;
    method: Method;
    kind: Kind;
    /** URLs up to the first placeholder, for policy checks. */
    urls: string[];
}

const MAX_DESCRIPTION = 2000;
const MAX_PARAM_DESCRIPTION = 300;
const MAX_EXAMPLE = 8 * 1024;
const MAX_VALUE = 300;
const MAX_PARAMS = 100;
const MAX_FIELDS = 30;
const MAX_LEVELS = 8;

/** Builds the entry of an endpoint. Long texts are cut. */
export function entryOf({ title, auth = [] }: Pick<PackageDocument, 'title' | 'auth'>, endpoint: Endpoint): EndpointEntry {
    const { description, params, response, hosted, billing, examples, method, kind, url, prepare } = endpoint;
    const [first] = examples;
    const required = params.filter(isRequiredParam);
    return {
        title,
        description: clip(description, MAX_DESCRIPTION),
        required: required.slice(0, MAX_PARAMS).map(describeParam),
        optional: params
            .filter((param) => !isRequiredParam(param))
            .slice(0, MAX_PARAMS)
            .map(({ name }) => name),
        fields: fieldsOf(response.schema),
        hosted,
        unit: billing.unit,
        maxResults: billing.maxResults,
        needsConnection: needOf(endpoint, auth) === 'required',
        example: first === undefined || JSON.stringify(first.params).length > MAX_EXAMPLE ? null : first.params,
        method,
        kind,
        urls: [url, ...(prepare ?? []).map((step) => step.url)].map((template) => template.split('{', 1)[0] ?? ''),
    };
}

function describeParam({ name, description, schema, example }: Param) {
    const value = example ?? null;
    return {
        name,
        type: typeOf(schema),
        description: clip(description, MAX_PARAM_DESCRIPTION),
        example: JSON.stringify(value).length > MAX_VALUE ? null : value,
    };
}

/** The type of a schema; `any` if it names none, such as `string or null` if it names several. */
function typeOf(schema: JsonSchema | undefined): string {
    if (!isObject(schema)) return 'any';
    return typesOf(schema).join(' or ') || 'any';
}

/** Field paths, upper levels first. */
function fieldsOf(schema: JsonSchema | undefined): string[] {
    const fields: string[] = [];
    let level: [path: string, schema: JsonSchema | undefined][] = [['', schema]];
    for (let depth = 0; depth < MAX_LEVELS && level.length > 0 && fields.length < MAX_FIELDS; depth++) {
        const below: typeof level = [];
        for (const [path, one] of level) {
            if (!isObject(one)) continue;
            const properties = isObject(one['properties']) ? Object.entries(one['properties']) : [];
            for (const [name, property] of properties) {
                const [at, inner] = unpack(path === '' ? name : `${path}.${name}`, property as JsonSchema);
                if (isObject(inner) && isObject(inner['properties'])) below.push([at, inner]);
                else fields.push(at);
            }
            if (properties.length === 0 && one['items'] !== undefined) below.push(unpack(path, one));
        }
        level = below;
    }
    return fields.slice(0, MAX_FIELDS);
}

/** Replaces a list by its items. */
function unpack(path: string, schema: JsonSchema): [string, JsonSchema | undefined] {
    if (!isObject(schema) || schema['items'] === undefined) return [path, schema];
    return unpack(`${path}[]`, schema['items'] as JsonSchema);
}
