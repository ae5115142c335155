import { getOrMake } from '../get-or-make.ts';
import type { Json } from '../types.ts';
import { scanTokens } from './tokens.ts';

declare global {
    interface JSON {
        /** TypeScript's library does not declare it, and browsers from before 2025 do not have it. */
        rawJSON?(text: string): unknown;
    }
}

/**
 * A number of a JSON text that JavaScript would round, such as `9007199254740993` or `1e400`. `JSON.stringify` and `String` write its
 * digits. JavaScript compares and computes with the nearest double. Equal digits of one text are one object, so `===` compares digits.
 */
class ExactNumber extends Number {
    readonly #digits: string;

    constructor(digits: string) {
        super(digits);
        this.#digits = digits;
    }

    override toString(): string {
        return this.#digits;
    }

    toJSON(): unknown {
        return JSON.rawJSON?.(this.#digits) ?? Number(this);
    }
}

/** Whether a value is an ExactNumber, which is an object to `typeof`. */
export function isExact(value: unknown): boolean {
    return value instanceof ExactNumber;
}

/** The value with doubles instead of ExactNumbers, for code that only compares. Returns the value itself if it has none. */
export function withDoubles(value: Json): Json {
    if (typeof value !== 'object' || value === null || !hasExact(value)) return value;
    return JSON.parse(JSON.stringify(value)) as Json;
}

/** Recursion is bounded by the levels that a value may have. */
function hasExact(value: object): boolean {
    return isExact(value) || Object.values(value).some((part) => typeof part === 'object' && part !== null && hasExact(part));
}

/** Every double can represent this many digits. */
const SAFE_DIGITS = 15;
/** Doubles have exponents from -324 to 308. */
const MIN_EXTREME = '1e309'.length;

const LONG = new RegExp(`\\d[\\d.]{${SAFE_DIGITS}}`);
const EXTREME = /\d[eE][+-]?\d{3}/;

/** Whether a JSON text may contain a number that JavaScript rounds. Most texts do not. */
function mayRound(text: string): boolean {
    return LONG.test(text) || EXTREME.test(text);
}

/** Whether JavaScript writes a long or extreme number with different digits. Only the number itself decides: `1.50` is never kept. */
function isRounded(literal: string): boolean {
    return mayRound(literal) && String(Number(literal)) !== literal;
}

/** Escapes of characters that mark a string as a number. The first one that the text does not contain is used. */
const MARKS = ['\\u0001', '\\u0002', '\\u0003', '\\u0004', '\\u0005', '\\u0006', '\\u0007'];

/**
 * Parses JSON like `JSON.parse`, except that numbers which would be rounded become an ExactNumber. Five times faster than a reviver with
 * its `context.source`, which is called for every value.
 * @template Value the expected type; it is not checked
 * @param parsed the result of `JSON.parse`, if available; it is returned if no number in it is rounded
 * @throws SyntaxError
 */
export function parseExact<Value = Json>(text: string, parsed: Json = JSON.parse(text)): Value {
    const mark = mayRound(text) ? MARKS.find((one) => !text.includes(one)) : undefined;
    if (mark === undefined) return parsed as Value;
    const parts: string[] = [];
    let copied = 0;
    // Most texts have no extreme number, and all their short numbers are skipped.
    const longestSkipped = EXTREME.test(text) ? MIN_EXTREME - 1 : SAFE_DIGITS;
    scanTokens(text, (first, from, to) => {
        const isLong = to - from > longestSkipped && isOfNumber(first);
        if (!isLong || !isRounded(text.slice(from, to))) return false;
        parts.push(text.slice(copied, from), `"${mark}${text.slice(from, to)}"`);
        copied = to;
        return false;
    });
    if (copied === 0) return parsed as Value;
    const marked: Json = JSON.parse(parts.join('') + text.slice(copied));
    return restoreNumbers(marked, JSON.parse(`"${mark}"`), new Map()) as Value;
}

/** Like `parseExact`; undefined for a text that is no JSON. */
export function tryParseExact(text: string): Json | undefined {
    try {
        return parseExact(text);
    } catch {
        return undefined;
    }
}

function isOfNumber(code: number): boolean {
    return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

function restoreNumbers(value: Json, mark: string, known: Map<string, Json>): Json {
    if (typeof value === 'string' && value.startsWith(mark)) {
        const digits = value.slice(mark.length);
        // It behaves like a number except for `typeof`.
        return getOrMake(known, digits, () => new ExactNumber(digits) as unknown as number);
    }
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) value[i] = restoreNumbers(value[i] ?? null, mark, known);
    else if (typeof value === 'object' && value !== null) {
        for (const key of Object.keys(value)) value[key] = restoreNumbers(value[key] ?? null, mark, known);
    }
    return value;
}
