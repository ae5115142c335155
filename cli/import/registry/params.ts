import { compilePattern } from '../../../shared/domain/json/schema/patterns.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageParam, ParamSource } from '../../../shared/domain/types.ts';
import type { LeftOut, NotRead } from '../operation.ts';
import { cleanText, printableName } from '../texts.ts';
import { typeOf } from './answers.ts';
import { paramNameOf } from './body-templates.ts';

type ReadParams = { ok: true; params: PackageParam[]; left: LeftOut[] } | NotRead;

/** An input that an operation declares. */
interface Declared {
    name: string;
    place: string;
    required: boolean;
    schema: JsonSchema;
    description: string | undefined;
    default: Json | undefined;
    /** The endpoint whose answer contains the value, and where. */
    origin?: { endpoint: string; selector: string } | undefined;
}

const PARAM_NAME = /^[!-z|~]{1,64}$/;

/**
 * The params of an operation: one for each placeholder of its URL and body, those of `query_params`, and further ones of `params` and
 * `variables`.
 * @param places.body names of the placeholders in the body template; `undefined` without one
 * @param places.headers names of headers → names of the inputs that fill them
 */
export function readParams(
    operation: JsonObject,
    url: string,
    { body: inBody, headers }: { body: readonly string[] | undefined; headers: ReadonlyMap<string, string> },
    method: string,
): ReadParams {
    const declared = [...listOf(operation['params']).map(declaredParam), ...listOf(operation['variables']).map(declaredVariable)];
    if (declared.some(({ place }) => place === 'url'))
        return { ok: false, why: 'A param is the whole URL, but a package must contain its URLs.' };
    const left: LeftOut[] = [];
    for (const { name, origin } of declared)
        if (origin !== undefined)
            left.push({
                name: `param ${printableName(name)}`,
                why: `Callers take its value from ${printableName(origin.endpoint)}; its description says so.`,
            });
    const params = new Map<string, PackageParam>();
    const find = (name: string) => declared.find((one) => paramNameOf(one.name) === name);
    for (const name of placeholdersOf(url)) params.set(name, createParam(name, 'path', find(name), true));
    for (const name of inBody ?? []) {
        if (params.has(name))
            return { ok: false, why: `The param ${printableName(name)} is in the URL and in the body, but a param is sent in one place.` };
        params.set(name, createParam(name, 'body', find(name), true));
    }
    for (const query of listOf(operation['query_params'])) addQueryParam(query, find, params, left);
    for (const [header, filledBy] of headers) params.set(header, createParam(header, 'header', find(paramNameOf(filledBy)), true));
    const inHeaders = new Set([...headers.values()].map(paramNameOf));
    for (const one of declared) {
        const name = paramNameOf(one.name);
        // `credentialsOf` lists these.
        if (one.place === 'credential') continue;
        if (inHeaders.has(name) || params.has(name) || [...params.values()].some((param) => param.name === one.name)) continue;
        const source = sourceOf(one.place, inBody !== undefined, method);
        if (source === undefined)
            left.push({ name: `param ${printableName(one.name)}`, why: 'Neither the URL nor the body has a place for it.' });
        else if (!PARAM_NAME.test(one.name))
            left.push({ name: `param ${printableName(one.name)}`, why: 'Its name has characters that the name of a param may not have.' });
        else params.set(one.name, createParam(one.name, source, one, one.required));
    }
    return { ok: true, params: [...params.values()], left };
}

function listOf(list: Json | undefined): JsonObject[] {
    return (Array.isArray(list) ? list : []).filter(isObject);
}

function declaredParam(param: JsonObject): Declared {
    const type = typeOf(param['type']);
    return {
        name: String(param['name'] ?? ''),
        place: String(param['in'] ?? ''),
        required: param['required'] === true,
        schema: type === undefined || type === 'null' ? {} : { type },
        description: cleanText(param['description'], 600),
        default: param['default'],
    };
}

/** `source: {from_endpoint, selector}`: the answer of another endpoint has the value. */
function originOf(source: Json | undefined): Declared['origin'] {
    if (!isObject(source) || typeof source['from_endpoint'] !== 'string') return undefined;
    return { endpoint: source['from_endpoint'], selector: typeof source['selector'] === 'string' ? source['selector'] : '' };
}

function describedWith(description: string | undefined, origin: Declared['origin']): string | undefined {
    if (origin === undefined) return description;
    const place = origin.selector === '' ? '' : ` at ${origin.selector}`;
    return cleanText(`${description === undefined ? '' : `${description} `}The answer of ${origin.endpoint} has it${place}.`, 600);
}

function declaredVariable(variable: JsonObject): Declared {
    const origin = originOf(variable['source']);
    const pattern = typeof variable['pattern'] === 'string' && variable['pattern'] !== '' ? compilePattern(variable['pattern']) : undefined;
    return {
        name: String(variable['name'] ?? ''),
        place: String((origin === undefined ? variable['source'] : undefined) ?? variable['in'] ?? ''),
        required: variable['required'] !== false,
        schema: {
            type: typeOf(variable['type']) ?? 'string',
            ...(pattern?.ok === true && pattern.size < 400 ? { pattern: String(variable['pattern']) } : {}),
        },
        description: describedWith(cleanText(variable['description'], 600), origin),
        default: variable['default'],
        origin,
    };
}

function placeholdersOf(url: string): string[] {
    return [...new Set([...url.matchAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map((match) => match[1] ?? ''))];
}

function sourceOf(place: string, hasTemplate: boolean, method: string): ParamSource | undefined {
    if (place === 'query' || place === 'header') return place;
    const isBody = place === 'body' || place === 'form';
    return isBody && !hasTemplate && method !== 'GET' && method !== 'HEAD' ? 'body' : undefined;
}

function createParam(name: string, source: ParamSource, declared: Declared | undefined, required: boolean): PackageParam {
    const schema = source === 'body' ? (declared?.schema ?? {}) : plain(declared?.schema);
    const standard = convertToType(declared?.default, schema);
    return {
        name,
        source,
        required: declared === undefined ? required : declared.required,
        ...(declared?.description === undefined ? {} : { description: declared.description }),
        ...(isObject(schema) && Object.keys(schema).length === 0 ? {} : { schema }),
        ...(standard === undefined ? {} : { default: standard }),
        ...(source === 'path' && standard === undefined ? { required: true } : {}),
    };
}

/** Lists and objects cannot be sent in a URL. The format 0.1 sends them as texts. */
function plain(schema: JsonSchema | undefined): JsonSchema {
    if (!isObject(schema)) return { type: 'string' };
    return schema['type'] === 'object' || schema['type'] === 'array' || schema['type'] === undefined
        ? { ...schema, type: 'string' }
        : schema;
}

/** Converts a default, in the format 0.1 mostly a text, to the type of the param. `undefined` if there is none or it does not fit. */
function convertToType(value: Json | undefined, schema: JsonSchema): Json | undefined {
    if (value === undefined || value === null || value === '') return undefined;
    const type = isObject(schema) ? schema['type'] : undefined;
    if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
    if (typeof value !== 'string')
        return typeof value === type || type === undefined || (type === 'integer' && Number.isInteger(value)) ? value : undefined;
    if (type === 'integer' || type === 'number') {
        const number = Number(value);
        return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined;
    }
    if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : undefined;
    return type === 'string' || type === undefined ? value : undefined;
}

/** Adds a param of `query_params`. If its value is a placeholder, the caller gives the value. Any other value is the default. */
function addQueryParam(
    query: JsonObject,
    find: (name: string) => Declared | undefined,
    params: Map<string, PackageParam>,
    left: LeftOut[],
): void {
    const key = String(query['key'] ?? query['name'] ?? '');
    const value = typeof query['value'] === 'string' ? query['value'] : '';
    const placeholder = /^\{\{?\s*([^{}\s]+)\s*\}?\}$/.exec(value)?.[1];
    if (!PARAM_NAME.test(key)) {
        left.push({ name: `query param ${printableName(key)}`, why: 'Its name has characters that the name of a param may not have.' });
        return;
    }
    if (placeholder === undefined && /\{\{?[^{}]+\}/.test(value)) {
        left.push({ name: `query param ${printableName(key)}`, why: 'Its value combines text and a placeholder.' });
        return;
    }
    const declared = find(paramNameOf(placeholder ?? key));
    const base = createParam(key, 'query', declared, query['required'] === true);
    const standard = placeholder === undefined && value !== '' ? convertToType(value, base.schema ?? {}) : base.default;
    const known = params.get(key);
    if (known !== undefined) left.push({ name: `query param ${printableName(key)}`, why: 'Another param has this name.' });
    else
        params.set(key, {
            ...base,
            required: query['required'] === true && standard === undefined,
            ...(standard === undefined ? {} : { default: standard }),
        });
    if (placeholder !== undefined && paramNameOf(placeholder) !== key) params.delete(paramNameOf(placeholder));
}
