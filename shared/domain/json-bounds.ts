import type { Detail, DetailCode } from '../refusals.ts';
import { textProblem } from './text-rule.ts';

/** Levels count nested objects and arrays, the outermost as 1; keys count over the whole value; text counts UTF-8 bytes. */
export interface JsonBounds {
    maxDepth: number;
    maxKeys: number;
    maxText: number;
    /** Newline and tab are fine inside strings. */
    multiline?: boolean;
    /** What levels and keys are counted from, where that is more than what somebody thinks of. */
    of?: string;
}

/** What the params of a call may be (CONTRACT 1). */
export const PARAM_BOUNDS: JsonBounds = { maxDepth: 32, maxKeys: 1000, maxText: 65_536 };

/** A whole request body: room for params inside it, and for the newlines of tasks and descriptions; single-line fields say so themselves. */
export const BODY_BOUNDS: JsonBounds = { maxDepth: 33, maxKeys: 1050, maxText: 65_536, multiline: true, of: 'the body' };

const MAX_REPORTED = 20;

interface Frame {
    value: unknown;
    depth: number;
    key: string | number;
    parent: Frame | undefined;
}

/**
 * Every place, in document order and at most 20 of them, where a parsed JSON value leaves the bounds or breaks the text rule.
 * Walks without recursion, so that no nesting overflows the stack. `at` is the JSON pointer of the value itself.
 */
export function jsonProblems(value: unknown, bounds: JsonBounds = BODY_BOUNDS, at = ''): Detail[] {
    const problems: Detail[] = [];
    const waiting: Frame[] = [{ value, depth: 0, key: at, parent: undefined }];
    let keys = 0;
    for (let frame = waiting.pop(); frame !== undefined && problems.length < MAX_REPORTED; frame = waiting.pop()) {
        if (typeof frame.value !== 'object' || frame.value === null) {
            const fault = scalarFault(frame.value, bounds);
            if (fault !== undefined) problems.push(problem(frame, fault[0], fault[1]));
            continue;
        }
        const depth = frame.depth + 1;
        if (depth > bounds.maxDepth) {
            problems.push(
                problem(
                    frame,
                    'TOO_COMPLEX',
                    `is nested more than ${bounds.maxDepth} levels deep${bounds.of === undefined ? '' : ` in ${bounds.of}`}`,
                ),
            );
            continue;
        }
        const children = childrenOf(frame, depth);
        if (!Array.isArray(frame.value)) {
            keys += children.length;
            if (keys > bounds.maxKeys) {
                problems.push(problem(frame, 'TOO_COMPLEX', `brings ${bounds.of ?? 'the whole'} to more than ${bounds.maxKeys} keys`));
                break;
            }
            for (const fault of keyFaults(children, bounds)) problems.push(problem(frame, 'INVALID_VALUE', fault));
        }
        for (const child of children.reverse()) waiting.push(child);
    }
    return problems.slice(0, MAX_REPORTED);
}

/** The first of `jsonProblems`, or `undefined`. */
export function jsonProblem(value: unknown, bounds: JsonBounds = PARAM_BOUNDS, at = ''): Detail | undefined {
    return jsonProblems(value, bounds, at)[0];
}

/**
 * Whether a JSON text nests arrays and objects more than `max` levels, told without parsing it: what is too deep never reaches
 * `JSON.parse`, and nothing behind it has to be safe against recursion. Bytes are taken as UTF-8. Says nothing about well-formedness.
 */
export function isJsonTooDeep(text: string | Uint8Array, max = 100): boolean {
    let depth = 0;
    return someOutsideStrings(text, (code) => {
        if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
        return (code === OPEN_ARRAY || code === OPEN_OBJECT) && ++depth > max;
    });
}

/**
 * Whether commas part more than `max` values in a JSON text, told without parsing it: an object of half a million keys takes the
 * parser longer than everything behind it together. Bytes are taken as UTF-8. Says nothing about well-formedness.
 */
export function hasMoreValues(text: string | Uint8Array, max: number): boolean {
    let commas = 0;
    return someOutsideStrings(text, (code) => code === COMMA && ++commas >= max);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether `see` says so of a character outside of the strings. Bytes above 0x7f never look like ASCII in UTF-8. */
function someOutsideStrings(text: string | Uint8Array, see: (code: number) => boolean): boolean {
    if (typeof text === 'string') {
        for (let i = 0; i < text.length; i++) {
            const code = text.charCodeAt(i);
            if (code === QUOTE)
                i = endOfString(
                    i,
                    (from) => text.indexOf('"', from),
                    (at) => text.charCodeAt(at),
                    text.length,
                );
            else if (see(code)) return true;
        }
        return false;
    }
    for (let i = 0; i < text.length; i++) {
        const code = text[i] ?? 0;
        if (code === QUOTE)
            i = endOfString(
                i,
                (from) => text.indexOf(QUOTE, from),
                (at) => text[at] ?? 0,
                text.length,
            );
        else if (see(code)) return true;
    }
    return false;
}

/** Index of the quote that closes the string opened at `open`, or the text's length. */
function endOfString(open: number, nextQuote: (from: number) => number, codeAt: (at: number) => number, length: number): number {
    for (let end = nextQuote(open + 1); end !== -1; end = nextQuote(end + 1)) {
        let slashes = 0;
        while (codeAt(end - 1 - slashes) === BACKSLASH) slashes++;
        if (slashes % 2 === 0) return end;
    }
    return length;
}

function childrenOf(parent: Frame, depth: number): Frame[] {
    const { value } = parent;
    if (Array.isArray(value)) return value.map((item: unknown, key) => ({ value: item, depth, key, parent }));
    return Object.entries(value as object).map(([key, item]: [string, unknown]) => ({ value: item, depth, key, parent }));
}

function scalarFault(value: unknown, bounds: JsonBounds): [DetailCode, string] | undefined {
    if (typeof value === 'string') {
        const fault = textProblem(value, { multiline: bounds.multiline ?? false });
        if (fault !== undefined) return ['INVALID_VALUE', fault];
        return isLongerThan(value, bounds.maxText) ? ['TOO_COMPLEX', `is longer than ${bounds.maxText} bytes`] : undefined;
    }
    // `1e999` is well-formed JSON and parses to Infinity, which no JSON can say back.
    if (typeof value === 'number') return Number.isFinite(value) ? undefined : ['INVALID_VALUE', 'is a number too large to hold'];
    return value === null || typeof value === 'boolean' ? undefined : ['INVALID_TYPE', 'is no JSON value'];
}

function keyFaults(children: readonly Frame[], bounds: JsonBounds): string[] {
    return children.map(({ key }) => keyFault(String(key), bounds)).filter((fault) => fault !== undefined);
}

function keyFault(key: string, bounds: JsonBounds): string | undefined {
    if (key === '__proto__') return 'has the key __proto__, which is not accepted';
    const fault = textProblem(key);
    if (fault !== undefined) return `has a key that ${fault}`;
    return isLongerThan(key, bounds.maxText) ? `has a key longer than ${bounds.maxText} bytes` : undefined;
}

/** Whether a text takes more than so many bytes in UTF-8, of which a UTF-16 unit takes three at most. */
export function isLongerThan(text: string, bytes: number): boolean {
    return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}

function problem(frame: Frame, code: DetailCode, fault: string): Detail {
    return { path: boundedPointer(pointerTo(frame)), code, message: `The value ${fault}.` };
}

function pointerTo(frame: Frame): string {
    const steps: string[] = [];
    let here = frame;
    for (; here.parent !== undefined; here = here.parent) steps.push(escapePointer(String(here.key)));
    return [String(here.key), ...steps.reverse()].join('/');
}

/** Characters of a pointer that are shown: its steps are keys that somebody else chose, and a key may be as long as the value. */
const SHOWN_POINTER = 512;

/** The beginning of a JSON pointer, so that what tells of a fault in a value is not many times the size of the value. */
export function boundedPointer(pointer: string): string {
    return pointer.slice(0, SHOWN_POINTER).toWellFormed();
}

/** One step of a JSON pointer (RFC 6901). */
export function escapePointer(step: string): string {
    return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
