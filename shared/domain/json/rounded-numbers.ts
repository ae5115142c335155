import type { Detail } from '../../refusals.ts';
import { boundedPointer, escapePointer } from './json-bounds.ts';

/** A double holds every whole number of fifteen digits: a text without sixteen in a row need not be looked through. */
const LONG_RUN = /\d{16}/;
const LONG_WHOLE = /^-?\d{16,}$/;

const ROUNDED = 'This whole number has more digits than are kept; send it as a string.';

const MAX_REPORTED = 20;
/** What is nested deeper is refused for that, in bodies and in packages. */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** An array or object that has not ended, and what it is at: an index, or the last key, from its opening quote to its closing one. */
interface Open {
    isArray: boolean;
    index: number;
    keyFrom: number;
    keyTo: number;
}

/**
 * Every place, in document order and at most 20 of them, where a JSON text has a whole number that its parsed value says otherwise:
 * `9007199254740993` would go on as `…992`, which is another id. `text` has been parsed before, well. Decimals are measures and may be
 * rounded; what no double can hold at all shows in the parsed value, and is found there.
 */
export function roundedNumbers(text: string): Detail[] {
    if (!LONG_RUN.test(text)) return [];
    const found: Detail[] = [];
    const opened: Open[] = [];
    // By characters: an expression for tokens takes five times as long over a body of many small values.
    for (let at = 0; at < text.length && found.length < MAX_REPORTED; at++) {
        const mark = text.charCodeAt(at);
        const here = opened.at(-1);
        if (mark === QUOTE) {
            const from = at;
            at = endOfString(text, from);
            // A text that is a value is taken for a key until the next one comes, and no number stands between.
            if (here?.isArray === false) Object.assign(here, { keyFrom: from, keyTo: at + 1 });
        } else if (mark === OPEN_OBJECT || mark === OPEN_ARRAY) {
            if (opened.push({ isArray: mark === OPEN_ARRAY, index: 0, keyFrom: 0, keyTo: 0 }) > MAX_DEPTH) break;
        } else if (mark === CLOSE_OBJECT || mark === CLOSE_ARRAY) {
            opened.pop();
        } else if (mark === COMMA) {
            if (here !== undefined) here.index++;
        } else if (mark === MINUS || (mark >= ZERO && mark <= NINE)) {
            const from = at;
            at = lastOfNumber(text, from);
            if (at - from >= 15 && isRounded(text.slice(from, at + 1)))
                found.push({ path: pointerTo(opened, text), code: 'INVALID_VALUE', message: ROUNDED });
        }
    }
    return found;
}

/** The index of the quote that closes the string opened at `open`. */
function endOfString(text: string, open: number): number {
    for (let end = text.indexOf('"', open + 1); end !== -1; end = text.indexOf('"', end + 1)) {
        let slashes = 0;
        while (text[end - 1 - slashes] === '\\') slashes++;
        if (slashes % 2 === 0) return end;
    }
    return text.length;
}

function lastOfNumber(text: string, from: number): number {
    let last = from;
    while (isOfNumber(text.charCodeAt(last + 1))) last++;
    return last;
}

/** Digits, and what stands between them in decimals and in the form with an exponent. */
function isOfNumber(code: number): boolean {
    return (code >= ZERO && code <= NINE) || code === MINUS || code === 0x2b || code === 0x2e || (code | 0x20) === 0x65;
}

/** Whether a number is a whole one that would be printed as another. What is finite has at most 309 digits. */
function isRounded(literal: string): boolean {
    if (!LONG_WHOLE.test(literal)) return false;
    const value = Number(literal);
    if (!Number.isFinite(value) || Number.isSafeInteger(value)) return false;
    const [digits = '', exponent = '0'] = String(value).split('e+');
    const [whole = '', fraction = ''] = digits.split('.');
    return BigInt(whole + fraction.padEnd(Number(exponent), '0')) !== BigInt(literal);
}

function pointerTo(opened: readonly Open[], text: string): string {
    const steps = opened.map(({ isArray, index, keyFrom, keyTo }) =>
        isArray ? String(index) : escapePointer(JSON.parse(text.slice(keyFrom, keyTo)) as string),
    );
    return boundedPointer(steps.map((step) => `/${step}`).join(''));
}
