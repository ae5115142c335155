import { isExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';

/** Allowed size of the selected data as JSON, before it is cut to the maximum number of results (docs/api.md, "Schema packages"). */
export const MAX_OUTPUT = 10 * 1024 * 1024;
export const DATA_TOO_LARGE = 'The resulting data has more than 10 MiB as JSON.';

const MAX_VALUES = 5_000_000;
const MAX_SELECTED_VALUES = 1_000_000;
const MAX_DEPTH = 100;

const COMMA = 1;
const COLON = 1;
const QUOTES = 2;
const BRACKETS = 2;

/**
 * Rejects a value with too many bytes (as JSON), values or levels, and stops at the first limit that it exceeds. A value that is selected
 * several times counts each time.
 * @throws InvalidResponse
 */
export function checkSize(value: Json, { isSelected }: { isSelected: boolean }): void {
    const maxValues = isSelected ? MAX_SELECTED_VALUES : MAX_VALUES;
    const fault = firstTooMuch(value, { bytes: MAX_OUTPUT, values: maxValues });
    if (fault === undefined) return;
    const subject = isSelected ? 'The selected data' : 'The answer';
    const faults = {
        bytes: DATA_TOO_LARGE,
        values: `${subject} has more than ${maxValues} values.`,
        depth: `${subject} nests more than ${MAX_DEPTH} levels deep.`,
    };
    throw new InvalidResponse(faults[fault]);
}

export function fitsInto(value: Json, bytes: number): boolean {
    return firstTooMuch(value, { bytes, values: bytes }) === undefined;
}

function firstTooMuch(value: Json, max: { bytes: number; values: number }): 'bytes' | 'values' | 'depth' | undefined {
    let values = 0;
    let bytes = 0;
    const count = (one: Json | undefined, depth: number): ReturnType<typeof firstTooMuch> => {
        if (++values > max.values) return 'values';
        if (typeof one !== 'object' || one === null || isExact(one)) bytes += scalarBytes(one);
        else if (depth > MAX_DEPTH) return 'depth';
        else if (Array.isArray(one)) {
            bytes += BRACKETS + Math.max(0, one.length - 1) * COMMA;
            for (let i = 0; i < one.length && bytes <= max.bytes; i++) {
                const fault = count(one[i], depth + 1);
                if (fault !== undefined) return fault;
            }
        } else {
            bytes += BRACKETS;
            let separator = 0;
            for (const key of Object.keys(one)) {
                bytes += textBytes(key) + COLON + separator;
                separator = COMMA;
                const fault = bytes > max.bytes ? 'bytes' : count(one[key], depth + 1);
                if (fault !== undefined) return fault;
            }
        }
        return bytes > max.bytes ? 'bytes' : undefined;
    };
    return count(value, 1);
}

function scalarBytes(value: Json | undefined): number {
    if (typeof value === 'string') return textBytes(value);
    if (typeof value === 'number') return Number.isFinite(value) ? digits(value) : 4;
    if (isExact(value)) return String(value).length;
    return value === false ? 5 : 4;
}

function digits(value: number): number {
    if (value >= 0 && value < 1000 && Number.isInteger(value)) return value < 10 ? 1 : value < 100 ? 2 : 3;
    return String(value).length;
}

/** Characters that JSON escapes: quotes, backslashes, control characters, lone surrogates. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Characters to serialize at a time for counting. Each takes at most six bytes. */
const SLICE = 256 * 1024;

function textBytes(text: string): number {
    // Every character takes at least one byte, so the limit is exceeded. The exact size does not matter.
    if (text.length > MAX_OUTPUT) return text.length;
    if (!ESCAPED.test(text)) return Buffer.byteLength(text) + QUOTES;
    let bytes = QUOTES;
    for (let from = 0; from < text.length && bytes <= MAX_OUTPUT; ) {
        const isInPair = (text.charCodeAt(from + SLICE - 1) & 0xfc00) === 0xd800;
        const to = from + SLICE + (isInPair ? 1 : 0);
        bytes += Buffer.byteLength(JSON.stringify(text.slice(from, to))) - QUOTES;
        from = to;
    }
    return bytes;
}
