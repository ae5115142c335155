import { decodeQueryPart } from '../text/percent-decode.ts';
import { HIDDEN } from './attach.ts';
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
    /** The URL without the pairs of its query that hold it; undefined if it is elsewhere. */
    url(url: string): string | undefined;
}

/** Looks for a secret; undefined if it is too short to be looked for. @param also further texts of the same credential, such as refresh tokens */
export function createEchoMask(secret: Secret, also: readonly string[] = []): EchoMask | undefined {
    const value = 'value' in secret ? secret.value : secret.password;
    const forms = [value, ...also].flatMap((text) => (text.length < LEAST ? [] : formsOf(text)));
    if ('username' in secret) forms.push(...base64Of(`${secret.username}:${secret.password}`));
    if (forms.length === 0) return undefined;
    // A form inside of a JSON text is escaped once more.
    const needles = [...new Set(forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]))].sort(
        (one, other) => other.length - one.length,
    );
    const narrow = needles.map((needle) => Buffer.from(needle));
    // What has none of these has no needle: longer needles hold shorter ones.
    const heads = shortest(needles.map((needle) => needle.slice(0, HEAD)));
    const narrowHeads = shortest(narrow.map((needle) => needle.subarray(0, HEAD)));
    // The same value outside of strings is a number: what stands for it has to be JSON too.
    const isNumber = /^-?\d[\d.eE+-]*$/.test(value);
    const text = (given: string) => {
        const isFound = heads.some((head) => given.includes(head));
        const shown = isFound ? needles.reduce((masked, needle) => hide(masked, needle, HIDDEN), given) : given;
        // JSON may write any character as \\u and its number.
        return shown.includes('\\u') ? hideEscaped(shown, needles) : shown;
    };
    return {
        text,
        bytes(bytes, isJson) {
            const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
            // Only UTF-16 has zero bytes, and it is rare.
            const isNarrow = !buffer.includes(0);
            if (isNarrow && !narrowHeads.some((head) => buffer.includes(head))) return bytes;
            const wide = narrow.flatMap((needle, index) => {
                const little = Buffer.from(needles[index] ?? '', 'utf16le');
                return [needle, little, Buffer.from(little).swap16()];
            });
            if (!wide.some((needle) => buffer.includes(needle.subarray(0, HEAD)))) return bytes;
            const latin = buffer.toString('latin1');
            const prepared = isJson && isNumber ? outsideOfStrings(latin, (part) => hideNumbers(part, value)) : latin;
            const masked = wide.reduce(
                (shown, needle, index) => hide(shown, needle.toString('latin1'), MARKS[index % 3] ?? '', index % 3 === 0 ? 1 : 2),
                prepared,
            );
            return Buffer.from(masked, 'latin1');
        },
        url(given) {
            const mark = given.indexOf('?');
            const holds = (piece: string) =>
                [piece, fromBytes(piece), decodeQueryPart(piece), decodeQueryPart(decodeQueryPart(piece))].some(
                    (form) => text(form) !== form || form.includes(HIDDEN),
                );
            const pairs = mark === -1 ? [] : given.slice(mark + 1).split('&');
            const kept = pairs.filter((pair) => !holds(pair));
            const base = mark === -1 ? given : given.slice(0, mark);
            const bare = kept.length === 0 ? base : `${base}?${kept.join('&')}`;
            return holds(bare) ? undefined : bare;
        },
    };
}

/** Those that hold none of the later ones. */
function shortest<Head extends string | Buffer>(heads: readonly Head[]): Head[] {
    return heads.filter((head, index) => !heads.slice(index + 1).some((later) => head.includes(later as string & Buffer)));
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

/**
 * Characters of a needle that are searched for. V8 shifts by 250 at most: a site that sends a credential of thousands of characters again and
 * again, but for the last one, would keep a longer search busy for half a minute.
 */
const HEAD = 200;

/**
 * Replaces each place where a text has the needle, or at least its first 200 characters, in time proportional to the text.
 * @param width bytes of a character, where the text has one character a byte
 */
function hide(given: string, needle: string, mark: string, width = 1): string {
    const parts: string[] = [];
    let kept = 0;
    for (const [at, end] of placesOf(given, needle, width)) {
        parts.push(given.slice(kept, at), mark);
        kept = end;
    }
    return kept === 0 ? given : parts.join('') + given.slice(kept);
}

function* placesOf(given: string, needle: string, width = 1): Generator<[at: number, end: number]> {
    const head = needle.slice(0, HEAD);
    for (let at = given.indexOf(head); at !== -1; ) {
        let length = head.length;
        while (length < needle.length && given[at + length] === needle[length]) length++;
        if (length < needle.length) length -= length % width;
        // Half of an escape would end the string of JSON that it is in.
        if (length < needle.length && needle[length - 1] === '\\') length--;
        yield [at, at + length];
        at = given.indexOf(head, at + length);
    }
}

/** The same for several needles, any character of which may be written as JSON escapes it. */
function hideEscaped(given: string, needles: readonly string[]): string {
    const { plain, starts } = withoutEscapes(given);
    const places = needles.flatMap((needle) => [...placesOf(plain, needle)]).sort(([one], [other]) => one - other);
    const parts: string[] = [];
    let kept = 0;
    for (const [at, end] of places) {
        const [from, until] = [starts[at] ?? 0, starts[end] ?? given.length];
        if (from >= kept) parts.push(given.slice(kept, from), HIDDEN);
        kept = Math.max(kept, until);
    }
    return kept === 0 ? given : parts.join('') + given.slice(kept);
}

/** A text with its \\u escapes decoded, and where each character began. */
function withoutEscapes(given: string): { plain: string; starts: Uint32Array } {
    const starts = new Uint32Array(given.length + 1);
    const parts: string[] = [];
    let length = 0;
    let from = 0;
    const keep = (until: number) => {
        parts.push(given.slice(from, until));
        while (from < until) starts[length++] = from++;
    };
    for (const { index, 1: hex = '' } of given.matchAll(/\\u([0-9a-f]{4})/gi)) {
        keep(index);
        parts.push(String.fromCharCode(Number.parseInt(hex, 16)));
        starts[length++] = index;
        from = index + 6;
    }
    keep(given.length);
    starts[length] = given.length;
    return { plain: parts.join(''), starts: starts.subarray(0, length + 1) };
}

/** Texts that neither a URL nor JSON escapes, as most keys and tokens are. */
const UNESCAPED = /^[\w.-]*$/;

/** Calls that share no mask build them again. Without the escapes it takes two thirds of the time. */
function formsOf(value: string): string[] {
    if (UNESCAPED.test(value)) return [value, ...base64Of(value)];
    const percent = encodeURIComponent(value);
    const strict = percent.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    const json = JSON.stringify(value).slice(1, -1);
    // Forms of HTML encode a tilde, but no asterisk.
    const form = new URLSearchParams([['', value]]).toString().slice('='.length);
    const lower = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
    return [
        value,
        percent,
        strict,
        lower(percent),
        lower(strict),
        strict.replaceAll('%20', '+'),
        form,
        lower(form),
        json,
        json.replaceAll('/', '\\/'),
        ...base64Of(value),
    ];
}

function base64Of(text: string): string[] {
    const bytes = Buffer.from(text);
    const whole = bytes.toString('base64');
    const forUrls = bytes.toString('base64url');
    return [whole, whole.slice(0, forUrls.length), forUrls];
}
