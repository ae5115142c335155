import type { Json } from '../types.ts';
import { tryParseExact } from './exact-numbers.ts';

/** Reads a text as a JSON value of one of the types. Spreadsheets write TRUE, and Python True. Undefined if it is not JSON. */
export function readTyped(text: string, types: readonly unknown[]): Json | undefined {
    const isBoolean = types.includes('boolean') && /^(?:true|false)$/i.test(text);
    return tryParseExact(isBoolean ? text.toLowerCase() : text);
}
