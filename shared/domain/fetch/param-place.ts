import type { DetailCode } from '../../refusals.ts';
import { isObject } from '../json/schema/structure.ts';
import type { BodyFormat, Json, Param } from '../types.ts';

/** Why a value cannot be sent where its param goes. `says` completes a sentence that names the param. */
export interface PlaceFault {
    code: DetailCode;
    says: string;
}

/** What of a param decides which values can be sent. */
export type Placed = Pick<Param, 'source' | 'schema' | 'style' | 'segments'>;

/** What keeps a value from being sent as this param, whatever its schema allows; undefined where it can be sent. */
export function placeFault(param: Placed, bodyFormat: BodyFormat, value: Json): PlaceFault | undefined {
    if (param.source === 'path') return pathFault(value, param.segments);
    if (param.source === 'header') return headerFault(value);
    if (param.source === 'body' && bodyFormat === 'json') return undefined;
    if (param.style === 'deepObject') return objectFault(value);
    // Without a schema or a style nothing says that a list is meant.
    const takesOne = param.source === 'query' && param.style === 'repeat' && param.schema === undefined;
    return takesOne ? scalarFault(value) : listFault(value);
}

/** More segments of a path than any site has levels. */
export const MAX_SEGMENTS = 20;

function pathFault(value: Json, hasSegments: boolean): PlaceFault | undefined {
    const notScalar = scalarFault(value);
    if (notScalar !== undefined || typeof value !== 'string') return notScalar;
    const segments = hasSegments ? value.split('/') : [value];
    if (segments.length > MAX_SEGMENTS) return invalid(`takes at most ${MAX_SEGMENTS} segments`);
    const broken = segments.find((segment) => !isSegment(segment));
    if (broken === undefined) return undefined;
    if (hasSegments) return invalid(`has ${broken === '' ? 'an empty segment' : `the segment ${broken}`}, and a path has none`);
    return invalid(`may not be ${broken === '' ? 'empty' : broken}, since it is a segment of the path`);
}

/** Percent-encoding leaves `.` and `..` alone, and every URL parser takes them for a step. */
export function isSegment(text: string): boolean {
    return text !== '' && text !== '.' && text !== '..';
}

export const MAX_HEADER_TEXT = 1024;

/** Visible ASCII with inner spaces: whatever else reaches a site may be read as another header. */
export function isHeaderText(text: string): boolean {
    return text.length <= MAX_HEADER_TEXT && /^[!-~]+(?: +[!-~]+)*$/.test(text);
}

function headerFault(value: Json): PlaceFault | undefined {
    if (typeof value === 'string' && !isHeaderText(value))
        return invalid(`takes 1 to ${MAX_HEADER_TEXT} characters of visible ASCII, with spaces between them alone`);
    return scalarFault(value);
}

function scalarFault(value: Json): PlaceFault | undefined {
    return isScalar(value) ? undefined : { code: 'INVALID_TYPE', says: 'takes a string, a number or a boolean' };
}

function listFault(value: Json): PlaceFault | undefined {
    const fits = Array.isArray(value) ? value.every(isScalar) : isScalar(value);
    return fits ? undefined : { code: 'INVALID_TYPE', says: 'takes a string, a number, a boolean or a list of these' };
}

function objectFault(value: Json): PlaceFault | undefined {
    const fits = isObject(value) && Object.values(value).every(isScalar);
    return fits ? undefined : { code: 'INVALID_TYPE', says: 'takes an object of strings, numbers and booleans' };
}

function isScalar(value: Json): value is string | number | boolean {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function invalid(says: string): PlaceFault {
    return { code: 'INVALID_VALUE', says };
}

/** The type of a schema whose values can never be sent there, although the schema names it; undefined where some can. */
export function unsendableType(param: Placed, bodyFormat: BodyFormat): string | undefined {
    const { schema, source, style } = param;
    const type = isObject(schema) ? schema['type'] : undefined;
    if (typeof type !== 'string' || (source === 'body' && bodyFormat === 'json')) return undefined;
    if (source !== 'path' && source !== 'header' && style === 'deepObject') return type === 'object' ? undefined : type;
    const never = source === 'path' || source === 'header' ? ['object', 'array', 'null'] : ['object', 'null'];
    return never.includes(type) ? type : undefined;
}
