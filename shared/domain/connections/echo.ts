import { decodeQueryPart } from '../text/percent-decode.ts';
import { splitOnce } from '../text/split-once.ts';
import { HIDDEN } from './attach.ts';
import type { Secret } from './secret.ts';

/** Minimum length of a value that is searched for. Shorter values would match unrelated text. */
const MIN = 8;

/** Finds a credential in an answer: plain, in base64, percent-encoded or JSON-escaped. User names are not searched for. */
export interface EchoMask {
    text(text: string): string;
    /** Returns the same bytes if there is nothing to replace. @param isJson keep JSON well-formed outside of strings */
    bytes(bytes: Uint8Array, isJson: boolean): Uint8Array;
    /** The URL without the query pairs that contain the credential; undefined if another part contains it. */
    url(url: string): string | undefined;
}

/** Undefined if the secret is too short. @param also further texts of the same credential, such as refresh tokens */
export function createEchoMask(secret: Secret, also: readonly string[] = []): EchoMask | undefined {
    const value = 'value' in secret ? secret.value : secret.password;
    const forms = [value, ...also].flatMap((text) => (text.length < MIN ? [] : formsOf(text)));
    // What is sent is itself base64.
    if ('username' in secret) forms.push(...base64Of(`${secret.username}:${secret.password}`).flatMap(formsOf));
    if (forms.length === 0) return undefined;
    // Within a JSON text, each form is escaped once more.
    const needles = [...new Set(forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]))].sort(
        (one, other) => other.length - one.length,
    );
    const narrow = needles.map((needle) => Buffer.from(needle));
    // Bytes that contain none of these prefixes contain no needle, because longer needles contain shorter ones.
    const heads = shortest(needles.map((needle) => needle.slice(0, HEAD)));
    const narrowHeads = shortest(narrow.map((needle) => needle.subarray(0, HEAD)));
    // Outside of strings, the value may appear as a number. Its replacement has to be valid JSON too.
    const isNumber = /^-?\d[\d.eE+-]*$/.test(value);
    const text = (given: string) => {
        const isFound = heads.some((head) => given.includes(head));
        const shown = isFound ? needles.reduce((masked, needle) => hide(masked, needle, HIDDEN), given) : given;
        // JSON may write any character as a \\u escape.
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
            const [base, query] = splitOnce(given, '?');
            const holds = (piece: string) =>
                [piece, fromBytes(piece), decodeQueryPart(piece), decodeQueryPart(decodeQueryPart(piece))].some(
                    (form) => text(form) !== form || form.includes(HIDDEN),
                );
            const kept = query?.split('&').filter((pair) => !holds(pair)) ?? [];
            const bare = kept.length === 0 ? base : `${base}?${kept.join('&')}`;
            return holds(bare) ? undefined : bare;
        },
    };
}

/** The items that contain none of the later ones. */
function shortest<Head extends string | Buffer>(heads: readonly Head[]): Head[] {
    return heads.filter((head, index) => !heads.slice(index + 1).some((later) => head.includes(later as string & Buffer)));
}

/** Node decodes each byte of a header as one character. Sites send UTF-8 in headers. */
function fromBytes(text: string): string {
    return Buffer.from(text, 'latin1').toString('utf8');
}

const AS_LATIN = Buffer.from(HIDDEN).toString('latin1');
/** The replacement text in UTF-8, UTF-16LE and UTF-16BE, with one character per byte. */
const MARKS = [AS_LATIN, Buffer.from(HIDDEN, 'utf16le').toString('latin1'), Buffer.from(HIDDEN, 'utf16le').swap16().toString('latin1')];

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

/** Replaces each number that contains the value by a text. */
function hideNumbers(part: string, value: string): string {
    if (!part.includes(value)) return part;
    return part.replaceAll(/[\d.eE+-]+/g, (number) => (number.includes(value) ? JSON.stringify(AS_LATIN) : number));
}

/** Characters of a needle that are searched for. V8 shifts by 250 at most: near-repeats of a long one would take half a minute. */
const HEAD = 200;

/** Replaces the needle, or at least its first 200 characters, in linear time. @param width bytes of a character of the text */
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
        // Half of an escape would end the JSON string that contains it.
        if (length < needle.length && needle[length - 1] === '\\') length--;
        yield [at, at + length];
        at = given.indexOf(head, at + length);
    }
}

/** Like `hide`, for several needles, any character of which may be written as a JSON escape. */
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

/** The text with decoded \\u escapes, and the original position of each character. */
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

/** Texts that neither a URL nor JSON escapes. Most keys and tokens are such texts. */
const UNESCAPED = /^[\w.-]*$/;

/** Calls that do not share a mask compute the forms again. Without the escapes it takes two thirds of the time. */
function formsOf(value: string): string[] {
    if (UNESCAPED.test(value)) return [value, ...base64Of(value)];
    const percent = encodeURIComponent(value);
    const strict = percent.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    const json = JSON.stringify(value).slice(1, -1);
    // HTML forms encode a tilde, but not an asterisk.
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
    const encoded = bytes.toString('base64');
    const forUrls = bytes.toString('base64url');
    return [encoded, encoded.slice(0, forUrls.length), forUrls];
}
