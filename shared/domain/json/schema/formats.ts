import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

/** Formats with values of any length. */
const LONG: ReadonlySet<string> = new Set(['byte', 'binary', 'password']);
const MAX_FORMATTED = 2048;

/** The formats of ajv-formats are checked, in up to 2,048 characters, which bounds their patterns. Others are annotations. */
export const FORMATS: Record<string, Format> = Object.fromEntries(
    Object.entries(fullFormats)
        .filter(([name]) => name !== 'regex')
        .map(([name, format]) => [name, LONG.has(name) ? format : boundLength(format)]),
);

function boundLength(format: Format): Format {
    if (format instanceof RegExp) return (text: string) => text.length <= MAX_FORMATTED && format.test(text);
    if (typeof format === 'function') return (text: string) => text.length <= MAX_FORMATTED && format(text);
    return format;
}
