import { decoded, HIDDEN } from './attach.ts';
import type { Secret } from './secret.ts';

/** Shorter values are not looked for: they would be found in what is none. */
const LEAST = 8;

/**
 * Finds a credential in what a site sent, in four forms: plain, base64, percent-encoded and JSON-escaped. User names are not looked for.
 */
export interface EchoMask {
    /** Replaces it in a text. */
    text(text: string): string;
    /** Replaces it in bytes; the same bytes where there is nothing to replace. @param isJson keep JSON well-formed outside of strings */
    bytes(bytes: Uint8Array, isJson: boolean): Uint8Array;
    /** The URL without the pairs of its query that hold it; undefined where it is elsewhere. */
    url(url: string): string | undefined;
    /** Bytes of the longest form. */
    longest: number;
}

/** Looks for a secret; undefined where it is too short to be looked for. @param also further texts of the same credential, such as refresh tokens */
export function createEchoMask(secret: Secret, also: readonly string[] = []): EchoMask | undefined {
    const value = 'value' in secret ? secret.value : secret.password;
    const forms = [value, ...also].flatMap((text) => (text.length < LEAST ? [] : formsOf(text)));
    if ('username' in secret) forms.push(...base64Of(`${secret.username}:${secret.password}`));
    if (forms.length === 0) return undefined;
    // A form inside of a JSON text is escaped once more.
    const needles = [...new Set(forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]))].sort(
        (one, other) => other.length - one.length,
    );
    const wide = needles.flatMap((needle) => {
        const little = Buffer.from(needle, 'utf16le');
        return [Buffer.from(needle), little, Buffer.from(little).swap16()];
    });
    // The same value outside of strings is a number: what stands for it has to be JSON too.
    const isNumber = /^-?\d[\d.eE+-]*$/.test(value);
    const plain = (given: string) => needles.reduce((shown, needle) => shown.replaceAll(needle, HIDDEN), given);
    const escaped = once(() => needles.map((needle) => new RegExp(inEverySpelling(needle), 'g')));
    // JSON may write any character as \\u and its number.
    const text = (given: string) => {
        const shown = plain(given);
        return shown.includes('\\u') ? escaped().reduce((masked, pattern) => masked.replaceAll(pattern, HIDDEN), shown) : shown;
    };
    return {
        text,
        bytes(bytes, isJson) {
            const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
            // Only UTF-16 has zero bytes, and it is rare.
            const isWide = buffer.includes(0);
            if (!wide.some((needle, index) => (isWide || index % 3 === 0) && buffer.includes(needle))) return bytes;
            const latin = buffer.toString('latin1');
            const prepared = isJson && isNumber ? outsideOfStrings(latin, (part) => hideNumbers(part, value)) : latin;
            const masked = wide.reduce(
                (shown, needle, index) => shown.replaceAll(needle.toString('latin1'), MARKS[index % 3] ?? ''),
                prepared,
            );
            return Buffer.from(masked, 'latin1');
        },
        url(given) {
            const mark = given.indexOf('?');
            const holds = (piece: string) =>
                [piece, fromBytes(piece), decoded(piece), decoded(decoded(piece))].some(
                    (form) => text(form) !== form || form.includes(HIDDEN),
                );
            const pairs = mark === -1 ? [] : given.slice(mark + 1).split('&');
            const kept = pairs.filter((pair) => !holds(pair));
            const base = mark === -1 ? given : given.slice(0, mark);
            const bare = kept.length === 0 ? base : `${base}?${kept.join('&')}`;
            return holds(bare) ? undefined : bare;
        },
        longest: Math.max(...wide.map(({ length }) => length)),
    };
}

/** Node gives a header one character a byte; sites write UTF-8 into it. */
function fromBytes(text: string): string {
    return Buffer.from(text, 'latin1').toString('utf8');
}

const AS_LATIN = Buffer.from(HIDDEN).toString('latin1');
/** Its replacement in UTF-8, UTF-16LE and UTF-16BE, one character a byte. */
const MARKS = [AS_LATIN, Buffer.from(HIDDEN, 'utf16le').toString('latin1'), Buffer.from(HIDDEN, 'utf16le').swap16().toString('latin1')];

/** Changes the parts of a JSON text that are in no string. */
function outsideOfStrings(json: string, change: (part: string) => string): string {
    const parts: string[] = [];
    for (let from = 0; from < json.length; ) {
        const begin = json.indexOf('"', from);
        parts.push(change(json.slice(from, begin === -1 ? undefined : begin)));
        if (begin === -1) break;
        let end = begin + 1;
        while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
        parts.push(json.slice(begin, end + 1));
        from = end + 1;
    }
    return parts.join('');
}

/** Puts a text in the place of each number that holds the value. */
function hideNumbers(part: string, value: string): string {
    if (!part.includes(value)) return part;
    return part.replaceAll(/[\d.eE+-]+/g, (number) => (number.includes(value) ? JSON.stringify(AS_LATIN) : number));
}

/** A pattern of a text in which each character may be escaped as JSON allows it. */
function inEverySpelling(needle: string): string {
    return Array.from({ length: needle.length }, (_, at) => {
        const hex = needle.charCodeAt(at).toString(16).padStart(4, '0');
        const digits = hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
        return `(?:\\\\u${digits}|\\u${hex})`;
    }).join('');
}

function once<T>(make: () => T): () => T {
    let made: T | undefined;
    return () => (made ??= make());
}

function formsOf(value: string): string[] {
    const percent = encodeURIComponent(value);
    const strict = percent.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    const json = JSON.stringify(value).slice(1, -1);
    const lower = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
    return [
        value,
        percent,
        strict,
        lower(percent),
        lower(strict),
        strict.replaceAll('%20', '+'),
        json,
        json.replaceAll('/', '\\/'),
        ...base64Of(value),
    ];
}

function base64Of(text: string): string[] {
    const whole = Buffer.from(text).toString('base64');
    const bare = whole.replace(/=+$/, '');
    return [whole, bare, bare.replaceAll('+', '-').replaceAll('/', '_')];
}
