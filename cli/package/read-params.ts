import { isFileSchema } from '../../shared/domain/fetch/files.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageParam } from '../../shared/domain/types.ts';
import { wrongUsage } from '../failures.ts';
import { readGivenFile } from './read-given-file.ts';

/** What somebody types for params: `--param name=value`, `--param name:=json`, `--params '{…}'`. */
export interface TypedParams {
    param?: readonly string[];
    params?: string;
}

/**
 * The params of a call. A `name=value` is a text, unless the param's schema takes only other types: then it is read as JSON, since
 * nothing is coerced later. For a file, `name=@path` reads it. @param known the params of the endpoint, where they could be read
 */
export function readParams({ param: pairs = [], params: json }: TypedParams, known: readonly PackageParam[] = []): JsonObject {
    const read = new Map<string, Json>(Object.entries(json === undefined ? {} : readObject(json)));
    for (const pair of pairs) {
        const [, name, mark, text] = /^([^=]+?)(:?=)(.*)$/s.exec(pair) ?? [];
        if (name === undefined || text === undefined) {
            throw wrongUsage(`--param takes name=value or name:=json, and this is ${JSON.stringify(pair)}`);
        }
        if (read.has(name)) throw wrongUsage(`the param ${name} is given twice`);
        const param = known.find((candidate) => candidate.name === name);
        read.set(name, mark === ':=' ? readJson(text, name) : typed(text, name, param?.schema));
    }
    return Object.fromEntries(read);
}

/** Whether some text has to be held against the endpoint's schema to know what it means. */
export function needsSchema({ param: pairs = [] }: TypedParams): boolean {
    return pairs.some((pair) => !/^[^=]+:=/.test(pair));
}

function readObject(text: string): JsonObject {
    const value = readJson(text, '--params');
    if (isObject(value)) return value;
    throw wrongUsage(`--params takes a JSON object, such as '{"q": "shoes"}'`);
}

function readJson(text: string, what: string): Json {
    const value = parsed(text);
    if (value === undefined) throw wrongUsage(`the value of ${what} is no JSON`);
    return value;
}

function typed(text: string, name: string, schema: JsonSchema | undefined): Json {
    if (isFileSchema(schema) && text.startsWith('@')) return { ...readGivenFile(text.slice(1), name) };
    const types = typesOf(schema);
    if (types === undefined || types.includes('string')) return text;
    const value = parsed(text);
    const item = typeof schema === 'object' ? schema['items'] : undefined;
    if (types.includes('array') && !Array.isArray(value)) return [typed(text, name, isSchema(item) ? item : undefined)];
    return value ?? text;
}

/** `undefined`: the schema does not say. */
function typesOf(schema: JsonSchema | undefined): readonly string[] | undefined {
    if (typeof schema !== 'object') return undefined;
    const { type, enum: values } = schema;
    if (type !== undefined) return [type].flat().filter((name) => typeof name === 'string');
    return Array.isArray(values) ? values.map((value) => (Array.isArray(value) ? 'array' : typeof value)) : undefined;
}

function isSchema(value: Json | undefined): value is JsonSchema {
    return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** Undefined for what is no JSON. Numbers keep their digits. */
function parsed(text: string): Json | undefined {
    try {
        return parseExact(text);
    } catch {
        return undefined;
    }
}
