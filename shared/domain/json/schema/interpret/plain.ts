import type { Format } from 'ajv';
import { clip } from '../../../text/clip.ts';
import type { Json } from '../../../types.ts';
import { isMultipleOf } from '../../decimals.ts';
import { FORMATS } from '../formats.ts';
import { compilePattern, spend } from '../patterns.ts';
import { areEqual, type Check, fail } from './node.ts';
import type { Rule } from './rule.ts';

const type: Rule = ({ type: given }) => {
    if (given === undefined) return undefined;
    const types = (Array.isArray(given) ? given : [given]).map(String);
    const message = `must be ${types.map((one) => TYPE_NAMES[one] ?? one).join(' or ')}`;
    return (value, state) => types.some((one) => isOfType(one, value)) || fail(state, 'type', message);
};

const TYPE_NAMES: Readonly<Record<string, string>> = {
    array: 'a list',
    boolean: 'true or false',
    integer: 'an integer',
    number: 'a number',
    object: 'an object',
    string: 'a string',
};

function isOfType(given: string, value: Json): boolean {
    // A whole number that no double holds is Infinity.
    if (given === 'integer') return Number.isInteger(value) || value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
    if (given === 'array') return Array.isArray(value);
    if (given === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
    return given === 'null' ? value === null : typeof value === given;
}

function ofNumber(keyword: string, words: string, fits: (value: number, given: number) => boolean): Rule {
    return ({ [keyword]: given }) => {
        if (typeof given !== 'number') return undefined;
        return (value, state) => typeof value !== 'number' || fits(value, given) || fail(state, keyword, `${words} ${given}`);
    };
}

function ofLength(keyword: 'minLength' | 'maxLength', words: string): Rule {
    return ({ [keyword]: given }) => {
        if (typeof given !== 'number') return undefined;
        const fits = (text: string) => (keyword === 'minLength' ? hasPoints(text, given) : !hasPoints(text, given + 1));
        return (value, state) =>
            typeof value !== 'string' ||
            fits(value) ||
            fail(state, keyword, `must have ${words} ${given} ${given === 1 ? 'character' : 'characters'}`);
    };
}

/** Compares the length in code points. A code point takes one or two UTF-16 units. */
function hasPoints(text: string, min: number): boolean {
    if (text.length < min) return false;
    if (text.length >= 2 * min) return true;
    spend(text.length >> 2);
    let points = 0;
    for (const _point of text) if (++points >= min) return true;
    return min <= 0;
}

const pattern: Rule = ({ pattern: given }) => {
    if (typeof given !== 'string') return undefined;
    return (value, state) => typeof value !== 'string' || matches(given, value) || fail(state, 'pattern', `must match pattern "${given}"`);
};

/** The program of the pattern is compiled on first use and cached. */
export function matches(source: string, text: string): boolean {
    const made = compilePattern(source);
    return made.ok && made.pattern.test(text);
}

const format: Rule = ({ format: given }) => {
    const known = typeof given === 'string' && Object.hasOwn(FORMATS, given) ? FORMATS[given] : undefined;
    const check = known === undefined ? undefined : checkOf(known);
    return check && ((value, state) => check(value) || fail(state, 'format', formatMessage(String(given))));
};

const FORMAT_EXAMPLES: Readonly<Record<string, string>> = {
    date: 'a date such as 2026-12-31',
    'date-time': 'a time such as 2026-12-31T09:30:00Z',
    email: 'an email address',
    time: 'a time such as 09:30:00Z',
    uri: 'a URL such as https://shop.example/path',
    uuid: 'a UUID',
};

function formatMessage(name: string): string {
    const example = FORMAT_EXAMPLES[name];
    return example === undefined ? `must have the format "${name}"` : `must be ${example}`;
}

function checkOf(known: Format): ((value: Json) => boolean) | undefined {
    if (known === true || typeof known === 'string') return undefined;
    const { validate, type: of = 'string' } = typeof known === 'object' && !(known instanceof RegExp) ? known : { validate: known };
    if (typeof validate === 'string') return undefined;
    const check = validate instanceof RegExp ? (text: string) => validate.test(text) : (validate as (value: unknown) => boolean);
    return (value) => {
        if (typeof value !== of) return true;
        // These expressions take a microsecond for two thousand characters of a URI.
        if (typeof value === 'string') spend(20 * Math.min(value.length, 2100));
        return check(value as string);
    };
}

const constant: Rule = (schema) => {
    if (!Object.hasOwn(schema, 'const')) return undefined;
    const { const: given } = schema;
    const message = `must be ${shown(given as Json)}`;
    return (value, state) => areEqual(value, given) || fail(state, 'const', message);
};

const choices: Rule = ({ enum: given }, building) => {
    if (!Array.isArray(given)) return undefined;
    const plain = new Set<Json>(given.filter((one) => typeof one !== 'object' || one === null));
    const others = given.filter((one) => typeof one === 'object' && one !== null);
    building.keeps(40 * given.length);
    // Values may be large and checks many, so the message is made once.
    const message = `must be one of ${listed(given)}`;
    const fits: Check = (value) =>
        plain.has(value) || (typeof value === 'object' && value !== null && others.some((one) => areEqual(one, value)));
    return (value, state, seen) => fits(value, state, seen) || fail(state, 'enum', message);
};

const MAX_LISTED = 12;
const MAX_SHOWN = 40;

/** The first values of an enum, as JSON. */
function listed(values: readonly Json[]): string {
    const more = values.length - MAX_LISTED;
    return values.slice(0, MAX_LISTED).map(shown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function shown(value: Json): string {
    return clip(JSON.stringify(value), MAX_SHOWN);
}

export const PLAIN_RULES: readonly Rule[] = [
    type,
    ofNumber('maximum', 'must be at most', (value, given) => value <= given),
    ofNumber('minimum', 'must be at least', (value, given) => value >= given),
    ofNumber('exclusiveMaximum', 'must be less than', (value, given) => value < given),
    ofNumber('exclusiveMinimum', 'must be more than', (value, given) => value > given),
    ofNumber('multipleOf', 'must be a multiple of', isMultipleOf),
    ofLength('maxLength', 'at most'),
    ofLength('minLength', 'at least'),
    pattern,
    format,
    constant,
    choices,
];
