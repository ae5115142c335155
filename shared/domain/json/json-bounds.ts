import type { Detail, DetailCode } from '../../refusals.ts';
import { dataProblem, textProblem } from '../text/text-rule.ts';
import { isExact } from './exact-numbers.ts';

/** Levels count nested objects and arrays, the outermost as 1; keys count over the whole value; text counts UTF-8 bytes. */
export interface JsonBounds {
    maxDepth: number;
    maxKeys: number;
    maxText: number;
    /** Items of all arrays together; absent: as many as fit. */
    maxItems?: number;
    /** Allowed strings: one line (default), several lines, or data: every character but NUL, in keys as well. */
    texts?: 'line' | 'lines' | 'data';
    /** The text at this key of an object may be as long as the body allows: the bytes of a file. */
    freeAt?: string;
    /** A key of the outermost object whose value is data, whatever `texts` says of the rest. */
    dataAt?: string;
    /** The value that levels and keys are counted from, if it is larger than the value in question. */
    of?: string;
}

/** Limits for the params of a call (docs/api.md, "Requests and answers"). */
export const PARAM_BOUNDS: JsonBounds = { maxDepth: 32, maxKeys: 1000, maxText: 65_536, texts: 'data' };

/** A whole request body: room for params inside it, and for the newlines of tasks and descriptions; single-line fields say so themselves. */
export const BODY_BOUNDS: JsonBounds = { maxDepth: 33, maxKeys: 1050, maxText: 65_536, texts: 'lines', of: 'the body' };

/** Of a body without params: no list that a route takes is longer, and a schema reports every item of a longer one that is wrong. */
export const BODY_ITEMS = 1000;

const MAX_REPORTED = 20;

/** An object or array that is being walked. */
interface Opened {
    value: object;
    /** Of an object. */
    names: readonly string[] | undefined;
    length: number;
    /** The next position; the one before it is being read. */
    next: number;
}

/**
 * Every place, in document order and at most 20 of them, where a parsed JSON value leaves the bounds or breaks the text rule.
 * Walks without recursion, so that no nesting overflows the stack, and without memory for what is no object or array: a body may hold
 * a hundred thousand small values. `at` is the JSON pointer of the value itself.
 */
export function jsonProblems(value: unknown, bounds: JsonBounds = BODY_BOUNDS, at = ''): Detail[] {
    const problems: Detail[] = [];
    const opened: Opened[] = [];
    const whole = bounds.of ?? 'the whole';
    let keys = 0;
    let items = 0;
    const tell = (code: DetailCode, fault: string) =>
        void problems.push({ path: boundedPointer(pointerTo(at, opened)), code, message: `The value ${fault}.` });
    const faultOfText = (text: string, isKey: boolean) => textFault(text, bounds, { isKey, isData: isAtData(bounds, opened) });
    /** False if there is no use in going on. */
    const look = (one: unknown): boolean => {
        if (typeof one !== 'object' || one === null || isExact(one)) {
            const fault = scalarFault(one, faultOfText, isFree(bounds, opened) ? Number.POSITIVE_INFINITY : bounds.maxText);
            if (fault !== undefined) tell(...fault);
            return true;
        }
        if (opened.length >= bounds.maxDepth) {
            tell('TOO_COMPLEX', `is nested more than ${bounds.maxDepth} levels deep${bounds.of === undefined ? '' : ` in ${bounds.of}`}`);
            return true;
        }
        if (Array.isArray(one)) {
            items += one.length;
            if (items > (bounds.maxItems ?? Number.POSITIVE_INFINITY)) {
                tell('TOO_COMPLEX', `brings ${whole} to more than ${bounds.maxItems} items`);
                return false;
            }
            opened.push({ value: one, names: undefined, length: one.length, next: 0 });
            return true;
        }
        const names = Object.keys(one);
        keys += names.length;
        if (keys > bounds.maxKeys) {
            tell('TOO_COMPLEX', `brings ${whole} to more than ${bounds.maxKeys} keys`);
            return false;
        }
        for (const name of names) {
            const fault = keyFault(name, bounds, faultOfText);
            if (fault !== undefined) tell('INVALID_VALUE', fault);
        }
        opened.push({ value: one, names, length: names.length, next: 0 });
        return true;
    };
    let goesOn = look(value);
    for (let last = opened.at(-1); goesOn && last !== undefined && problems.length < MAX_REPORTED; last = opened.at(-1)) {
        if (last.next === last.length) opened.pop();
        else goesOn = look(valueAt(last, last.next++));
    }
    return problems.slice(0, MAX_REPORTED);
}

/** The first of `jsonProblems`, or `undefined`. */
export function jsonProblem(value: unknown, bounds: JsonBounds = PARAM_BOUNDS, at = ''): Detail | undefined {
    return jsonProblems(value, bounds, at)[0];
}

function valueAt({ value, names }: Opened, place: number): unknown {
    return (value as Readonly<Record<string | number, unknown>>)[names?.[place] ?? place];
}

/** Checks the characters of a text or key. */
type FaultOfText = (text: string, isKey: boolean) => string | undefined;

function textFault(text: string, { texts }: JsonBounds, { isKey, isData }: { isKey: boolean; isData: boolean }): string | undefined {
    if (isData || texts === 'data') return dataProblem(text);
    return textProblem(text, { multiline: !isKey && texts === 'lines' });
}

/** Whether the walk is below the key whose value is data. */
function isAtData({ dataAt }: JsonBounds, [outermost]: readonly Opened[]): boolean {
    return dataAt !== undefined && outermost?.names?.[outermost.next - 1] === dataAt;
}

/** Whether the walk is at a text without a bound of its own. */
function isFree({ freeAt }: JsonBounds, opened: readonly Opened[]): boolean {
    const last = opened.at(-1);
    return freeAt !== undefined && last?.names?.[last.next - 1] === freeAt;
}

function scalarFault(value: unknown, faultOfText: FaultOfText, maxText: number): [DetailCode, string] | undefined {
    if (typeof value === 'string') {
        const fault = faultOfText(value, false);
        if (fault !== undefined) return ['INVALID_VALUE', fault];
        return isLongerThan(value, maxText) ? ['TOO_COMPLEX', `is longer than ${maxText} bytes`] : undefined;
    }
    // `1e999` is well-formed JSON and parses to Infinity, which no JSON can say back.
    if (typeof value === 'number') return Number.isFinite(value) ? undefined : ['INVALID_VALUE', 'is a number too large to hold'];
    return value === null || typeof value === 'boolean' || isExact(value) ? undefined : ['INVALID_TYPE', 'is no JSON value'];
}

function keyFault(key: string, bounds: JsonBounds, faultOfText: FaultOfText): string | undefined {
    if (key === '__proto__') return 'has the key __proto__, which is not accepted';
    const fault = faultOfText(key, true);
    if (fault !== undefined) return `has a key that ${fault}`;
    return isLongerThan(key, bounds.maxText) ? `has a key longer than ${bounds.maxText} bytes` : undefined;
}

/** Whether a text takes more than this many bytes in UTF-8. A UTF-16 unit takes three bytes at most. */
export function isLongerThan(text: string, bytes: number): boolean {
    return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}

/** Where the value stands that is being looked at. */
function pointerTo(at: string, opened: readonly Opened[]): string {
    return [at, ...opened.map(({ names, next }) => escapePointer(names?.[next - 1] ?? String(next - 1)))].join('/');
}

/** Most characters shown of a pointer. Its steps are keys of foreign data, and a key may be as long as the value. */
const SHOWN_POINTER = 512;

/** The beginning of a JSON pointer, so that an error is not many times larger than the value. */
export function boundedPointer(pointer: string): string {
    return pointer.slice(0, SHOWN_POINTER).toWellFormed();
}

/** One step of a JSON pointer (RFC 6901). */
export function escapePointer(step: string): string {
    return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
