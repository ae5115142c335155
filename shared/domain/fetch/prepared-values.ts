import { isExact } from '../json/exact-numbers.ts';
import type { Endpoint, Json, Values } from '../types.ts';
import { isSegment, MAX_HEADER_TEXT } from './param-place.ts';
import { isVisibleAscii } from './visible-ascii.ts';

export const EXTRACT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Placeholders of extracted values in headers, URLs and bodies. */
export const PREPARED_PLACEHOLDER = /\{prepare\.([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;

/** Names of the extracted values for which a text has placeholders, in order. */
export function preparedIn(text: string): string[] {
    return [...text.matchAll(PREPARED_PLACEHOLDER)].map(([, name = '']) => name);
}

/** The name of the extracted value that a placeholder stands for: `name` for `prepare.name`; undefined if it stands for a param. */
export function extractOf(placeholder: string): string | undefined {
    return /^prepare\.(.*)$/s.exec(placeholder)?.[1];
}

/** Adds an extracted value to the values of a call. Its name is the complete placeholder; names of params cannot contain braces. */
export function withPrepared(values: Values, name: string, value: Json): Values {
    return Object.assign(Object.create(null), values, { [`{prepare.${name}}`]: value });
}

/** The values of a call with sample values for everything that `prepare` extracts. Used to check URLs before anything is sent. */
export function withPlaceholderValues({ prepare }: Pick<Endpoint, 'prepare'>, values: Values): Values {
    const names = prepare?.flatMap(({ extract }) => Object.keys(extract)) ?? [];
    return names.reduce((all, name) => withPrepared(all, name, 'x'), values);
}

/** Maximum length of one extracted value, in characters. */
const MAX_TEXT = 1024;

export const NOT_THERE = 'is not there';

/** Why an extracted value cannot be sent where the endpoint uses it, as the end of a sentence; undefined if it can be sent. */
export function preparedFault(endpoint: Endpoint, name: string, value: Json): string | undefined {
    if (value === null || value === '') return NOT_THERE;
    if (typeof value === 'object' && !isExact(value)) return 'is not a string, number or boolean';
    const text = String(value);
    if (text.length > MAX_TEXT) return `has more than ${MAX_TEXT} characters`;
    if (!text.isWellFormed() || text.includes('\0')) return 'has a character that cannot be sent';
    const { inHeaders, inPaths } = usesOf(endpoint, name);
    if (inHeaders && !isVisibleAscii(text, MAX_HEADER_TEXT)) return 'is used in a header, but is not visible ASCII';
    if (inPaths && !isSegment(text)) return 'is used in a path, but is not a path segment';
    return undefined;
}

function usesOf({ headers, url, prepare }: Endpoint, name: string): { inHeaders: boolean; inPaths: boolean } {
    const uses = (text: string) => preparedIn(text).includes(name);
    const urls = [url, ...(prepare ?? []).map((step) => step.url)];
    return { inHeaders: Object.values(headers).some(uses), inPaths: urls.some((one) => uses(one.split('?', 1)[0] ?? '')) };
}
