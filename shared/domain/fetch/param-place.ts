import { isExact } from '../json/exact-numbers.ts';
import { isObject } from '../json/schema/structure.ts';
import type { BodyFormat, Json, Param } from '../types.ts';
import { fileFaults, isFileSchema, type ValueFault } from './files.ts';
import { isVisibleAscii } from './visible-ascii.ts';

export type Placed = Pick<Param, 'source' | 'schema' | 'style' | 'segments'>;

/** The values that a place can contain: `list` and `object` of plain values, `any` JSON. */
type Holds = 'plain' | 'list' | 'object' | 'file' | 'any';

function holdsOf({ source, schema, style }: Placed, bodyFormat: BodyFormat): Holds {
    if (source === 'path' || source === 'header') return 'plain';
    if (style === 'deepObject') return 'object';
    // Without a schema or a style, nothing declares that the param takes a list.
    if (source === 'query') return schema === undefined && style === 'repeat' ? 'plain' : 'list';
    if (bodyFormat === 'json' || bodyFormat === 'ndjson') return 'any';
    if (bodyFormat === 'xml' || bodyFormat === 'text') return 'plain';
    return bodyFormat === 'multipart' && isFileSchema(schema) ? 'file' : 'list';
}

/** The reasons why a value cannot be sent as this param, regardless of its schema. */
export function placeFaults(param: Placed, bodyFormat: BodyFormat, value: Json): ValueFault[] {
    const holds = holdsOf(param, bodyFormat);
    if (holds === 'file') return fileFaults(value);
    const fault = shapeFault(holds, value) ?? (typeof value === 'string' ? textFault(param, bodyFormat, value) : undefined);
    return fault === undefined ? [] : [fault];
}

function shapeFault(holds: Exclude<Holds, 'file'>, value: Json): ValueFault | undefined {
    if (holds === 'any' || (holds !== 'object' && isScalar(value))) return undefined;
    if (holds === 'plain') return { code: 'INVALID_TYPE', says: 'takes a string, a number or a boolean' };
    if (holds === 'list' && Array.isArray(value) && value.every(isScalar)) return undefined;
    if (holds === 'list') return { code: 'INVALID_TYPE', says: 'takes a string, a number, a boolean or a list of these' };
    if (isObject(value) && Object.values(value).every(isScalar)) return undefined;
    return { code: 'INVALID_TYPE', says: 'takes an object of strings, numbers and booleans' };
}

function textFault({ source, segments }: Placed, bodyFormat: BodyFormat, text: string): ValueFault | undefined {
    if (source === 'path') return pathFault(text, segments);
    if (source === 'header' && !isVisibleAscii(text, MAX_HEADER_TEXT))
        return invalid(`takes 1 to ${MAX_HEADER_TEXT} characters of visible ASCII, with spaces between them alone`);
    if (source === 'body' && bodyFormat === 'xml' && NOT_XML.test(text)) return invalid('has a character that XML cannot hold');
    return undefined;
}

export const MAX_HEADER_TEXT = 1024;

/** Characters that XML 1.0 cannot contain, not even as references. */
const NOT_XML = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** No site has paths with more segments. */
const MAX_SEGMENTS = 20;

function pathFault(text: string, hasSegments: boolean): ValueFault | undefined {
    const segments = hasSegments ? text.split('/') : [text];
    if (segments.length > MAX_SEGMENTS) return invalid(`takes at most ${MAX_SEGMENTS} segments`);
    const broken = segments.find((segment) => !isSegment(segment));
    if (broken === undefined) return undefined;
    if (hasSegments) return invalid(`has ${broken === '' ? 'an empty segment' : `the segment ${broken}`}, and a path has none`);
    return invalid(`may not be ${broken === '' ? 'empty' : broken}, since it is a segment of the path`);
}

/** Percent-encoding does not change `.` and `..`, and every URL parser treats them as dot segments. */
export function isSegment(text: string): boolean {
    return text !== '' && text !== '.' && text !== '..';
}

function isScalar(value: Json): value is string | number | boolean {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || isExact(value);
}

function invalid(says: string): ValueFault {
    return { code: 'INVALID_VALUE', says };
}

/** The JSON types that a place can never contain. Objects and files are always objects. */
const NEVER: Readonly<Record<Holds, readonly string[]>> = {
    plain: ['object', 'array', 'null'],
    list: ['object', 'null'],
    object: ['array', 'null', 'string', 'number', 'integer', 'boolean'],
    file: ['array', 'null', 'string', 'number', 'integer', 'boolean'],
    any: [],
};

/** The type that a schema names although values of it can never be sent in this place; undefined if some values can. */
export function unsendableType(param: Placed, bodyFormat: BodyFormat): string | undefined {
    const type = isObject(param.schema) ? param.schema['type'] : undefined;
    return typeof type === 'string' && NEVER[holdsOf(param, bodyFormat)].includes(type) ? type : undefined;
}
