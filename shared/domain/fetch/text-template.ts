import { valueIn } from '../json/value-in.ts';
import type { BodyFormat, Json, Values } from '../types.ts';

/** Formats whose body is a single text with placeholders. */
const TEXT_FORMATS = ['xml', 'text', 'ndjson'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];

/** Whether the body of this format is a single text with placeholders. */
export function isTextFormat(format: BodyFormat): format is TextFormat {
    return TEXT_FORMATS.some((one) => one === format);
}

/** `{name}`, with the same names as in URLs. */
const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]{0,63})\}/g;

export function textPlaceholders(template: string): string[] {
    return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

export function replacePlaceholders(template: string, value: string): string {
    return template.replaceAll(PLACEHOLDER, () => value);
}

/** Replaces each `{name}` of a body param by its escaped value, once. An absent param is an empty text, in NDJSON `null`. */
export function fillText(template: string, format: TextFormat, bodyParams: ReadonlySet<string>, values: Values): string {
    return template.replaceAll(PLACEHOLDER, (whole, name: string) => {
        if (!bodyParams.has(name)) return whole;
        const value = valueIn(values, name);
        if (format === 'ndjson') return jsonLine(value ?? null);
        return value === undefined ? '' : ESCAPE[format](typeof value === 'string' ? value : JSON.stringify(value));
    });
}

/** Some programs also split lines at these characters. JSON can express them as escapes. */
function jsonLine(value: Json): string {
    return JSON.stringify(value).replaceAll(/[\u0085\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** XML parsers read line breaks and tabs in an attribute as spaces, and a CR anywhere as a LF. */
const XML: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
    '\t': '&#9;',
    '\n': '&#10;',
    '\r': '&#13;',
};

const ESCAPE: Readonly<Record<Exclude<TextFormat, 'ndjson'>, (text: string) => string>> = {
    xml: (text) => text.replaceAll(/[&<>"'\t\n\r]/g, (char) => XML[char] ?? char),
    text: (text) => text,
};
