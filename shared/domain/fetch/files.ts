import type { DetailCode } from '../../refusals.ts';
import { isObject } from '../json/schema/structure.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Values } from '../types.ts';
import { isVisibleAscii } from './visible-ascii.ts';

/** A small file in the format that callers send. */
export interface GivenFile {
    filename: string;
    content_type: string;
    base64: string;
}

/** Maximum size of all files of one call, decoded. */
export const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME = 255;

export const FILE_SCHEMA: JsonObject = {
    type: 'object',
    properties: {
        filename: { type: 'string', maxLength: MAX_NAME },
        content_type: { type: 'string', maxLength: MAX_NAME },
        base64: { type: 'string', contentEncoding: 'base64' },
    },
    required: ['filename', 'content_type', 'base64'],
    additionalProperties: false,
};

const FIELDS = ['filename', 'content_type', 'base64'] as const;

export function isFileSchema(schema: JsonSchema | undefined): boolean {
    return isObject(schema) && schema['format'] === 'file';
}

export function takesFiles({ bodyFormat, params }: Endpoint): boolean {
    return bodyFormat === 'multipart' && params.some(({ source, schema }) => source === 'body' && isFileSchema(schema));
}

/** Why a value cannot be sent as its param. `says` completes a sentence whose subject is the param. */
export interface ValueFault {
    code: DetailCode;
    says: string;
    /** JSON pointer within the value; absent: the value itself. */
    below?: string;
}

export function fileFaults(value: Json): ValueFault[] {
    if (!isObject(value)) return [{ code: 'INVALID_TYPE', says: 'takes a file: {filename, content_type, base64}' }];
    const unknown = Object.keys(value).filter((key) => !FIELDS.some((field) => field === key));
    return [
        ...unknown.map(
            (key): ValueFault => ({
                code: 'UNKNOWN_FIELD',
                says: 'has an unknown field; a file has filename, content_type and base64',
                below: `/${key}`,
            }),
        ),
        ...FIELDS.flatMap((field) => fieldFault(field, value[field])),
    ];
}

function fieldFault(field: (typeof FIELDS)[number], value: Json | undefined): ValueFault[] {
    const below = `/${field}`;
    if (value === undefined) return [{ code: 'REQUIRED', says: `needs ${field}`, below }];
    if (typeof value !== 'string') return [{ code: 'INVALID_TYPE', says: `takes a string for ${field}`, below }];
    if (field !== 'base64' && !isVisibleAscii(value, MAX_NAME))
        return [{ code: 'INVALID_VALUE', says: `takes 1 to ${MAX_NAME} characters of visible ASCII for ${field}`, below }];
    if (field === 'base64' && !isBase64(value))
        return [{ code: 'INVALID_VALUE', says: 'takes standard base64 with its padding, without line breaks', below }];
    return [];
}

function isBase64(text: string): boolean {
    return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ''));
}

function decodedBytes(base64: string): number {
    const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
    return (base64.length / 4) * 3 - padding;
}

export function asFile(value: Json): GivenFile {
    return value as unknown as GivenFile;
}

/** A value as a dry run shows it. A file shows its size instead of its bytes; a list does so for each item. */
export function withoutBytes(value: Json): Json {
    if (Array.isArray(value)) return value.map(withoutBytes);
    if (!isObject(value)) return value;
    const { filename, content_type, base64 } = asFile(value);
    return { filename, content_type, bytes: decodedBytes(base64) };
}

/** The first param whose file exceeds the size limit of a call; undefined if all fit. The values have been validated before. */
export function findOversizedFile(endpoint: Endpoint, values: Values): string | undefined {
    let bytes = 0;
    for (const { name, source, schema } of endpoint.params) {
        const value = source === 'body' && isFileSchema(schema) ? values[name] : undefined;
        if (value === undefined) continue;
        bytes += decodedBytes(asFile(value).base64);
        if (bytes > MAX_FILE_BYTES) return name;
    }
    return undefined;
}
