/**
 * Whether whoever reads a JSON text gets the value that JavaScript made of it, but for the last digits of its numbers. Not so where an
 * object names a key twice: JavaScript takes the last, other readers the first or none. Nor for numbers that are too large to hold
 * (`1e999`), at which some readers fail.
 * @param text well-formed JSON
 * @param value what `JSON.parse` made of it
 */
export function isFaithful(text: string, value: unknown): boolean {
    // Most sites write as JavaScript does, and this looks three times faster than an eye on each letter.
    if (JSON.stringify(value) === text) return true;
    const keys = keysHeld(value);
    return keys !== undefined && keys === keysWritten(text);
}

/** No number that can be held has more digits before its point; readers that go by their own types fail at such a one. */
const MAX_DIGITS = 309;

const ZERO = 0x30;
const NINE = 0x39;
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Colons outside of strings: what stands twice is written once more than it is held. Undefined where a number has too many digits. */
function keysWritten(text: string): number | undefined {
    let keys = 0;
    let digits = 0;
    for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        digits = code >= ZERO && code <= NINE ? digits + 1 : 0;
        if (digits > MAX_DIGITS) return undefined;
        if (code === COLON) keys++;
        if (code !== QUOTE) continue;
        for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
    }
    return keys;
}

/** Keys of all objects in a value; undefined where a number in it is none that JSON can say. */
function keysHeld(value: unknown): number | undefined {
    let keys = 0;
    const waiting: unknown[] = [[value]];
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
        if (!Array.isArray(one)) keys += Object.keys(one as object).length;
        for (const child of Object.values(one as object)) {
            if (typeof child === 'number' && !Number.isFinite(child)) return undefined;
            if (typeof child === 'object' && child !== null) waiting.push(child);
        }
    }
    return keys;
}
