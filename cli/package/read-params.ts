import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { type GivenFile, isFileSchema, MAX_FILE_BYTES } from '../../shared/domain/fetch/files.ts';
import { tryParseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { readTyped } from '../../shared/domain/json/typed-text.ts';
import type { Json, JsonObject, JsonSchema, PackageParam } from '../../shared/domain/types.ts';
import { wrongUsage } from '../failures.ts';

/** The params options: `--param name=value`, `--param name:=json`, `--params '{…}'`. */
export interface TypedParams {
    param?: readonly string[];
    params?: string;
}

/**
 * Reads the params of a call. `name=value` is a text, unless the param's schema allows only other types: then it is parsed as JSON, since
 * nothing is coerced later. `name=@path` reads a file. @param known the params of the endpoint, if they are known
 */
export function readParams({ param: pairs = [], params: json }: TypedParams, known: readonly PackageParam[] = []): JsonObject {
    const read = new Map<string, Json>(Object.entries(json === undefined ? {} : readObject(json)));
    for (const pair of pairs) {
        const [, name, mark, text] = /^([^=]+?)(:?=)(.*)$/s.exec(pair) ?? [];
        if (name === undefined || text === undefined) {
            throw wrongUsage(`--param must be name=value or name:=json, not ${JSON.stringify(pair)}`);
        }
        if (read.has(name)) throw wrongUsage(`the param ${name} is given twice`);
        const param = known.find((candidate) => candidate.name === name);
        read.set(name, mark === ':=' ? readJson(text, name, '5, true or \'["a", "b"]\'') : convertText(text, name, param?.schema));
    }
    return Object.fromEntries(read);
}

/** Whether the meaning of a text depends on the endpoint's schema. */
export function needsSchema({ param: pairs = [] }: TypedParams): boolean {
    return pairs.some((pair) => !/^[^=]+:=/.test(pair));
}

function readObject(text: string): JsonObject {
    const value = readJson(text, '--params', OBJECT);
    if (isObject(value)) return value;
    throw wrongUsage(`--params takes a JSON object, such as ${OBJECT}`);
}

/** Quoted for a shell. */
const OBJECT = `'{"q": "shoes", "page": 1}'`;

function readJson(text: string, what: string, example: string): Json {
    const value = tryParseExact(text);
    if (value === undefined) throw wrongUsage(`the value of ${what} is not valid JSON; write it like ${example}`);
    return value;
}

function convertText(text: string, name: string, schema: JsonSchema | undefined): Json {
    if (isFileSchema(schema) && text.startsWith('@')) return { ...readGivenFile(text.slice(1), name) };
    const types = typesOf(schema);
    if (types === undefined || types.includes('string')) return text;
    const value = readTyped(text, types);
    const item = typeof schema === 'object' ? schema['items'] : undefined;
    if (types.includes('array') && !Array.isArray(value)) return [convertText(text, name, isSchema(item) ? item : undefined)];
    return value ?? text;
}

/** `undefined` if the schema does not say. */
function typesOf(schema: JsonSchema | undefined): readonly string[] | undefined {
    if (typeof schema !== 'object') return undefined;
    const { type, enum: values } = schema;
    if (type !== undefined) return [type].flat().filter((name) => typeof name === 'string');
    return Array.isArray(values) ? values.map((value) => (Array.isArray(value) ? 'array' : typeof value)) : undefined;
}

function isSchema(value: Json | undefined): value is JsonSchema {
    return typeof value === 'boolean' || isObject(value);
}

const TYPES: Readonly<Record<string, string>> = {
    '.csv': 'text/csv',
    '.gif': 'image/gif',
    '.htm': 'text/html',
    '.html': 'text/html',
    '.jpeg': 'image/jpeg',
    '.jpg': 'image/jpeg',
    '.json': 'application/json',
    '.md': 'text/markdown',
    '.pdf': 'application/pdf',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain',
    '.webp': 'image/webp',
    '.xml': 'application/xml',
    '.zip': 'application/zip',
};

/** Reads a local file as a param; its type follows from its extension. @throws CommandFault if it is unreadable or too large */
function readGivenFile(path: string, param: string): GivenFile {
    let bytes: Buffer;
    try {
        if (statSync(path).size > MAX_FILE_BYTES) throw wrongUsage(`the file ${path} for ${param} has more than ${MAX_FILE_BYTES} bytes`);
        bytes = readFileSync(path);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === undefined) throw error;
        throw wrongUsage(`the file ${path} for ${param} cannot be read: ${(error as Error).message}`);
    }
    return {
        filename: basename(path),
        content_type: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
        base64: bytes.toString('base64'),
    };
}
