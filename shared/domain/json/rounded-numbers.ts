import type { Detail } from '../../refusals.ts';
import { boundedPointer, escapePointer } from './json-bounds.ts';
import { scanTokens } from './tokens.ts';

/** A double can represent every whole number of fifteen digits, so most texts need no walk. */
const LONG_RUN = /\d{16}/;
const LONG_WHOLE = /^-?\d{16,}$/;

const ROUNDED = 'This whole number would lose digits; send it as a string.';

const MAX_REPORTED = 20;
/** Bodies and packages with deeper nesting are refused for that reason. */
const MAX_DEPTH = 100;

/** An open array or object, and the current place in it: an index, or the range of the last key. */
interface Open {
    isArray: boolean;
    index: number;
    key: [from: number, to: number];
    /** Whether the digits of its numbers are kept; undefined until it is known. */
    isExcepted?: boolean;
}

/**
 * Finds the whole numbers in a JSON text that JavaScript rounds, at most 20, in document order: `9007199254740993` would become `…992`,
 * which is another id. Decimals may be rounded.
 * @param text well-formed JSON
 * @param except matches the pointers, each with a slash at its end, of arrays and objects whose numbers keep their digits
 */
export function roundedNumbers(text: string, except?: RegExp): Detail[] {
    if (!LONG_RUN.test(text)) return [];
    const found: Detail[] = [];
    const opened: Open[] = [];
    // Cached for each array and object: to build a pointer for each number would take longer than to parse the numbers.
    const isExcepted = (here: Open | undefined): boolean => {
        if (here === undefined || except === undefined) return false;
        here.isExcepted ??= except.test(`${pointerToPlace(opened.slice(0, -1), text)}/`);
        return here.isExcepted;
    };
    scanTokens(text, (first, from, to) => {
        const here = opened.at(-1);
        const sign = String.fromCharCode(first);
        if (sign === '{' || sign === '[') return opened.push({ isArray: sign === '[', index: 0, key: [0, 0] }) > MAX_DEPTH;
        if (sign === '}' || sign === ']') opened.pop();
        else if (sign === ',' && here !== undefined) here.index++;
        // If the string is a value and not a key, the next key replaces it before a number follows.
        else if (sign === '"' && here !== undefined) here.key = [from, to];
        else if (to - from > 15 && !isExcepted(here) && isRoundedWhole(text.slice(from, to)))
            return found.push({ path: pointerToPlace(opened, text), code: 'INVALID_VALUE', message: ROUNDED }) >= MAX_REPORTED;
        return false;
    });
    return found;
}

/** Whether a number is a whole number that JavaScript prints with different digits. A finite number has at most 309 digits. */
function isRoundedWhole(literal: string): boolean {
    if (!LONG_WHOLE.test(literal)) return false;
    const value = Number(literal);
    if (!Number.isFinite(value)) return false;
    const [digits = '', exponent = '0'] = String(value).split('e+');
    const [whole = '', fraction = ''] = digits.split('.');
    return BigInt(whole + fraction.padEnd(Number(exponent), '0')) !== BigInt(literal);
}

function pointerToPlace(opened: readonly Open[], text: string): string {
    const steps = opened.map(({ isArray, index, key }) => (isArray ? index : escapePointer(JSON.parse(text.slice(...key)) as string)));
    return boundedPointer(steps.map((step) => `/${step}`).join(''));
}
