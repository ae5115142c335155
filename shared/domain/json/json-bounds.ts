import type { Detail, DetailCode } from '../../refusals.ts';
import { dataProblem, textProblem } from '../text/text-rule.ts';
import { isExact } from './exact-numbers.ts';

/** Levels count nested objects and arrays, the outermost as 1. Keys are counted over the whole value. Text lengths are in UTF-8 bytes. */
export interface JsonBounds {
    maxDepth: number;
    maxKeys: number;
    maxText: number;
    /** Maximum number of items of all arrays together; absent: no limit. */
    maxItems?: number;
    /** Allowed strings: one line (default), several lines, or data: every character but NUL, in keys as well. */
    texts?: 'line' | 'lines' | 'data';
    /** The text at this key of an object may be as long as the body allows. It contains the bytes of a file. */
    freeAt?: string;
    /** A key of the outermost object whose value is data, regardless of `texts`. */
    dataAt?: string;
    /** The name of the value from which levels and keys are counted, if it is larger than the checked value. */
    of?: string;
}

/** Limits for the params of a call (docs/api.md, "Requests and answers"). */
export const PARAM_BOUNDS: JsonBounds = { maxDepth: 32, maxKeys: 1000, maxText: 65_536, texts: 'data' };

/** Limits of a request body, with room for params inside it and for newlines. Single-line fields have their own rule. */
export const BODY_BOUNDS: JsonBounds = { maxDepth: 33, maxKeys: 1050, maxText: 65_536, texts: 'lines', of: 'the body' };

/** Maximum number of items in a body without params. A schema would report every wrong item of a longer list. */
export const BODY_ITEMS = 1000;

const MAX_REPORTED = 20;

/** An object or array that the walk has entered. */
interface Opened {
    value: object;
    /** The keys of an object; undefined for an array. */
    names: readonly string[] | undefined;
    length: number;
    /** The next index. The walk is reading the value before it. */
    next: number;
}

/**
 * Finds the places where a parsed JSON value exceeds the bounds or violates the text rule, at most 20, in document order. Walks without
 * recursion, so that deep nesting does not overflow the stack. Allocates no memory for values that are not objects or arrays, because a
 * body may contain a hundred thousand small values. `at` is the JSON pointer of the value itself.
 */
export function jsonProblems(value: unknown, bounds: JsonBounds = BODY_BOUNDS, at = ''): Detail[] {
    const problems: Detail[] = [];
    const opened: Opened[] = [];
    const whole = bounds.of ?? 'the whole';
    let keys = 0;
    let items = 0;
    const report = (code: DetailCode, fault: string) =>
        void problems.push({ path: boundedPointer(pointerTo(at, opened)), code, message: `The value ${fault}.` });
    const faultOfText = (text: string, isKey: boolean) => textFault(text, bounds, { isKey, isData: isAtData(bounds, opened) });
    /** Returns false if the walk should stop. */
    const look = (one: unknown): boolean => {
        if (typeof one !== 'object' || one === null || isExact(one)) {
            const fault = scalarFault(one, faultOfText, isFree(bounds, opened) ? Number.POSITIVE_INFINITY : bounds.maxText);
            if (fault !== undefined) report(...fault);
            return true;
        }
        if (opened.length >= bounds.maxDepth) {
            report('TOO_COMPLEX', `is nested more than ${bounds.maxDepth} levels deep${bounds.of === undefined ? '' : ` in ${bounds.of}`}`);
            return true;
        }
        if (Array.isArray(one)) {
            items += one.length;
            if (items > (bounds.maxItems ?? Number.POSITIVE_INFINITY)) {
                report('TOO_COMPLEX', `brings ${whole} to more than ${bounds.maxItems} items`);
                return false;
            }
            opened.push({ value: one, names: undefined, length: one.length, next: 0 });
            return true;
        }
        const names = Object.keys(one);
        keys += names.length;
        if (keys > bounds.maxKeys) {
            report('TOO_COMPLEX', `brings ${whole} to more than ${bounds.maxKeys} keys`);
            return false;
        }
        for (const name of names) {
            const fault = keyFault(name, bounds, faultOfText);
            if (fault !== undefined) report('INVALID_VALUE', fault);
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

/** The first of `jsonProblems`; undefined if there is none. */
export function jsonProblem(value: unknown, bounds: JsonBounds = PARAM_BOUNDS): Detail | undefined {
    return jsonProblems(value, bounds)[0];
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

/** Whether the current position is below the key whose value is data. */
function isAtData({ dataAt }: JsonBounds, [outermost]: readonly Opened[]): boolean {
    return dataAt !== undefined && outermost?.names?.[outermost.next - 1] === dataAt;
}

/** Whether the current position is a text without a limit of its own. */
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
    // `1e999` is well-formed JSON, but larger than any double.
    if (typeof value === 'number' || isExact(value))
        return Number.isFinite(Number(value)) ? undefined : ['INVALID_VALUE', 'is a number too large for a double'];
    return value === null || typeof value === 'boolean' ? undefined : ['INVALID_TYPE', 'is not a JSON value'];
}

function keyFault(key: string, bounds: JsonBounds, faultOfText: FaultOfText): string | undefined {
    if (key === '__proto__') return 'has the key __proto__, which is not accepted';
    const fault = faultOfText(key, true);
    if (fault !== undefined) return `has a key that ${fault}`;
    return isLongerThan(key, bounds.maxText) ? `has a key longer than ${bounds.maxText} bytes` : undefined;
}

/** Whether a text takes more than this many bytes in UTF-8. A UTF-16 unit takes at most three bytes. */
export function isLongerThan(text: string, bytes: number): boolean {
    return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}

function pointerTo(at: string, opened: readonly Opened[]): string {
    return [at, ...opened.map(({ names, next }) => escapePointer(names?.[next - 1] ?? String(next - 1)))].join('/');
}

/** Maximum length of a displayed pointer in characters. Its steps are keys of untrusted data, and a key may be as long as the value. */
const SHOWN_POINTER = 512;

/** The beginning of a JSON pointer, so that an error is never many times larger than the value. */
export function boundedPointer(pointer: string): string {
    return pointer.slice(0, SHOWN_POINTER).toWellFormed();
}

/** One step of a JSON pointer (RFC 6901). */
export function escapePointer(step: string): string {
    return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
