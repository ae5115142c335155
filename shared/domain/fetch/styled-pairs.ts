import { isObject } from '../json/schema/structure.ts';
import type { Json, ParamStyle } from '../types.ts';

/** Separators of a list that is written as one value. They are sent unencoded. */
const SEPARATORS = { comma: ',', space: '%20', pipe: '|' } as const;

/** The pairs of one param. Items are encoded, separators and brackets are not; items and members are plain values. */
export function styledPairs(name: string, value: Json, style: ParamStyle, encode: (item: Json) => string): string[] {
    const key = encode(name);
    if (isObject(value)) {
        if (style !== 'deepObject') throw new Error(`the param ${name} has an object and no style for it`);
        return Object.entries(value).map(([member, item]) => `${key}[${encode(member)}]=${encode(item)}`);
    }
    if (!Array.isArray(value)) return [`${style === 'brackets' ? `${key}[]` : key}=${encode(value)}`];
    if (value.length === 0) return [];
    if (style === 'repeat') return value.map((item) => `${key}=${encode(item)}`);
    if (style === 'brackets') return value.map((item) => `${key}[]=${encode(item)}`);
    if (style === 'deepObject') throw new Error(`the param ${name} has a list and the style of an object`);
    return [`${key}=${value.map(encode).join(SEPARATORS[style])}`];
}
