/**
 * Whether an object somewhere in a JSON text names a key twice. JavaScript takes the last of them, other readers the first or none: such
 * a text says more than one thing. It is told by counting: what stands twice is written once more than it is held.
 * @param text well-formed JSON
 * @param value what `JSON.parse` made of it
 */
export function hasRepeatedKeys(text: string, value: unknown): boolean {
    // Most sites write as JavaScript does, and this looks three times faster than an eye on each letter.
    if (JSON.stringify(value) === text) return false;
    return keysWritten(text) > keysHeld(value);
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Colons outside of strings. */
function keysWritten(text: string): number {
    let keys = 0;
    for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        if (code === COLON) keys++;
        if (code !== QUOTE) continue;
        for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++;
    }
    return keys;
}

/** Keys of all objects in a value. */
function keysHeld(value: unknown): number {
    let keys = 0;
    const waiting: object[] = [];
    const look = (one: unknown) => {
        if (typeof one === 'object' && one !== null) waiting.push(one);
    };
    look(value);
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
        if (!Array.isArray(one)) keys += Object.keys(one).length;
        for (const child of Object.values(one)) look(child);
    }
    return keys;
}
