import { isExact, parseExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json, SelectedType } from '../../shared/domain/types.ts';

export type Decimal = '.' | ',';

/**
 * Converts a value of a page to another type; null if it cannot be converted. Numbers keep their digits.
 * @param value a text, or a value of JSON
 * @param decimal how the page writes numbers
 */
export function convert(value: Json, type: SelectedType, decimal: Decimal = '.'): Json {
    if (value === null || (typeof value === 'object' && !isExact(value))) return null;
    if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
    if (type === 'boolean') return typeof value === 'boolean' ? value : (BOOLEANS.get(String(value).toLowerCase()) ?? null);
    if (typeof value === 'boolean') return null;
    const literal = typeof value === 'string' ? literalIn(value, decimal) : String(value);
    return literal === undefined ? null : numberOf(literal, type);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
    ...['true', 'yes', 'on', '1'].map((word): [string, boolean] => [word, true]),
    ...['false', 'no', 'off', '0'].map((word): [string, boolean] => [word, false]),
]);

/** No text of a number is longer. */
const MAX_TEXT = 1000;

/** Blanks and apostrophes between groups of digits. */
const BLANKS = " \\u00a0\\u2007\\u2009\\u202f'\\u2019";

/** A sign, optionally followed by a currency; the number; and the text that follows it without a blank. */
const NUMBERS: Readonly<Record<Decimal, RegExp>> = { '.': numberWith('.'), ',': numberWith(',') };

function numberWith(decimal: Decimal): RegExp {
    const group = decimal === '.' ? ',' : '.';
    const sign = '(?:(?<![\\p{L}\\p{N}])([-\\u2212])\\s?\\p{Sc}?\\s?)?';
    // Groups have three digits; in India all groups but the last have two.
    const grouped = `\\d{1,3}(?:[${BLANKS}]\\d{3})+(?!\\d)|\\d{1,3}(?:[${group}]\\d{2,3}){0,100}[${group}]\\d{3}(?!\\d)`;
    return new RegExp(`${sign}(${grouped}|\\d+|(?<!\\d)(?=[${decimal}]\\d))(?:[${decimal}](\\d+))?(?:[eE]([+-]?\\d{1,3}))?(.?)`, 'u');
}

/**
 * The first number in a text, as a JSON number without currency, unit and group separators.
 * @returns undefined if there is no number, or if more digits follow that do not fit `decimal`, such as `1,5` with a point
 */
function literalIn(text: string, decimal: Decimal): string | undefined {
    if (text.length > MAX_TEXT) return undefined;
    // A dash is a sign only where the text begins with it.
    const found = NUMBERS[decimal].exec(withNarrowForms(text).replace(/^\s*\u2013(?=[\p{Sc}\d])/u, '-'));
    if (found === null) return undefined;
    const [whole, sign, digits = '', fraction, exponent, next = ''] = found;
    const rest = found.input.slice(found.index + whole.length);
    if (isMore(next, rest)) return undefined;
    const plain = digits.replaceAll(/\D/g, '').replace(/^0+(?=\d)/, '');
    const tail = `${fraction === undefined ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`;
    return `${sign === undefined ? '' : '-'}${plain === '' ? '0' : plain}${tail}`;
}

/** Japanese and Chinese pages also write `１，２００` for `1,200`. */
function withNarrowForms(text: string): string {
    return text.replaceAll(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
}

/** Whether the number continues: with a separator and digits, or with a suffix for thousands or millions (`1.2k`, `3M`, `12.3万`). */
function isMore(next: string, rest: string): boolean {
    if (/[.,]/.test(next)) return /^\d/.test(rest);
    if (/[千万萬億亿兆만억]/.test(next)) return true;
    return /[kKMB\d]/.test(next) && !/^\p{L}/u.test(rest);
}

/** A number as its type. An integer loses the zeros after its decimal point. */
function numberOf(literal: string, type: SelectedType): Json {
    const whole = literal.replace(/\.0+$/, '');
    if (!Number.isFinite(Number(literal))) return null;
    if (type === 'integer' && !/^-?\d+$/.test(whole)) return null;
    return parseExact(type === 'integer' ? whole : literal);
}
