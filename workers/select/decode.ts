import type { ResponseType } from '../../shared/domain/types.ts';
import { decodeKorean } from './korean.ts';
import { isPacked, unpackedStart } from './unpack.ts';

/** A body, and the signs of its encoding. */
export interface Undecoded {
    body: Uint8Array;
    contentType: string | undefined;
    type: ResponseType;
    /** `response.charset` of the endpoint, a known label. */
    charset?: string | undefined;
}

/**
 * The type of a body: from the package, else from the Content-Type, else from its first bytes. Many sites label JSON as text, a script or
 * HTML. If the endpoint selects from the body, a body that begins like JSON is JSON. The Content-Type of a file of gzip does not name the
 * type of its content.
 */
export function typeOfBody(
    body: Uint8Array,
    contentType: string | undefined,
    { wanted, isTakenApart }: { wanted: ResponseType | undefined; isTakenApart: boolean },
): ResponseType {
    if (wanted !== undefined) return wanted;
    const declared = typeOf(readContentType(contentType).essence);
    if (declared !== undefined && (declared === 'json' || !isTakenApart)) return declared;
    const content = unpackedStart(body);
    if (declared === 'html') return beginsLikeJson(content) ? 'json' : declared;
    const guessed = isTakenApart && isGuarded(content) ? 'json' : guessType(content);
    return guessed === 'json' || isPacked(body) ? guessed : (declared ?? guessed);
}

/**
 * The type of a page of a `prepare` step, for which packages declare no type. A page with a form is HTML. JSON is recognized even though
 * many sites label it as HTML.
 * @returns undefined if the Content-Type decides as usual
 */
export function typeOfStep(body: Uint8Array, contentType: string | undefined, { hasForm }: { hasForm: boolean }): ResponseType | undefined {
    if (hasForm) return 'html';
    const { essence } = readContentType(contentType);
    if (/^(?:application|text)\/(?!xhtml)(?:[\w.-]+\+)?xml$/.test(essence)) return 'xml';
    return essence === 'text/html' && guessType(unpackedStart(body)) === 'json' ? 'json' : undefined;
}

/**
 * Decodes a body by the charset of its endpoint, otherwise as browsers do (WHATWG, "Encoding" and "HTML"), JSON too: by its byte order
 * mark, else the charset of its Content-Type, else the `meta` of HTML or the declaration of XML, else as UTF-8. An unknown charset is
 * ignored; invalid bytes become U+FFFD.
 */
export function decode(page: Undecoded): string {
    const encoding = encodingOf(page);
    return encoding === 'euc-kr' ? decodeKorean(page.body) : new TextDecoder(encoding).decode(page.body);
}

export function isUtf8(page: Undecoded): boolean {
    return encodingOf(page) === 'utf-8';
}

function encodingOf({ body, contentType, type, charset: ofEndpoint }: Undecoded): string {
    const chosen = knownEncoding(ofEndpoint);
    if (chosen !== undefined) return chosen;
    const { charset } = readContentType(contentType);
    return bomOf(body) ?? knownEncoding(charset) ?? knownEncoding(charsetInside(body, type)) ?? utf16Of(body) ?? 'utf-8';
}

/** The encoding of a label. Servers also write it with other separators, such as `latin-1` and `'utf_8'`. */
function knownEncoding(label: string | undefined): string | undefined {
    if (label === undefined) return undefined;
    for (const spelling of [label, label.replaceAll(/[^a-z0-9]/gi, '')]) {
        try {
            return new TextDecoder(spelling).encoding;
        } catch {
            // This spelling names no encoding.
        }
    }
    return undefined;
}

/** The prefixes that sites put before JSON, so that no script can load it. */
const GUARD = /^\s*(?:\)\]\}'?,?|while\s*\(\s*1\s*\)\s*;|for\s*\(\s*;\s*;\s*\)\s*;|throw\s*1\s*;(?:\s*<[^>\n]{0,50}>)?|\{\}\s*&&)\s*/;

/** A variable or function of a script: `cb`, `jQuery.cb_1`, `window["cb"]`. */
const NAME = String.raw`[A-Za-z_$](?:[\w$.]|\[(?:"[\w$.-]{1,100}"|'[\w$.-]{1,100}'|\d{1,9})\]){0,100}`;

/** The beginning of a JSONP call, before which Express and others write a comment, or of JSON in parentheses; some catch its errors. */
const CALLBACK = new RegExp(
    String.raw`^[\s;]*(?:\/\*[^*]{0,100}\*\/\s*)?(?:try\s*\{\s*)?(?:(?:typeof\s+${NAME}\s*===?\s*['"]function['"]|${NAME})\s*&&\s*)?(?:${NAME}\s*)?\(`,
);

/** What follows the parenthesis that ends such a call: nothing, the end of `try`, or a comment. */
const CALL_REST = /^[\s;]*(?:\}\s*catch\s*\(\s*(?:\w+\s*)?\)\s*\{[^{}]{0,50}\}[\s;]*|\/\/[^\n]{0,100}\s*|\/\*[^*]{0,100}\*\/\s*)?$/;

/** The part of a call that is searched for its end, in characters. */
const MAX_REST = 300;

/** The beginning of a script that assigns an object or a list to a variable. */
const ASSIGNMENT = new RegExp(String.raw`^\s*(?:(?:var|let|const)\s+)?${NAME}\s*=\s*(?=[[{])`);

/**
 * The JSON in a text, without a prefix that guards it (`)]}'`), a function call around it (JSONP), or a variable that it is assigned to.
 * Nor is it preceded by further byte order marks, which files of PHP bring along, or followed by the NULs of programs in C.
 */
export function jsonIn(answer: string): string {
    const text = plainIn(answer);
    const guard = GUARD.exec(text)?.[0];
    if (guard !== undefined) return text.slice(guard.length);
    const assignment = ASSIGNMENT.exec(text)?.[0];
    const callback = assignment ?? CALLBACK.exec(text)?.[0];
    if (callback === undefined) return text;
    if (assignment !== undefined) return text.slice(assignment.length).trimEnd().replace(/;$/, '');
    return text.slice(callback.length, endOfCall(text)) || text;
}

/** The place of the parenthesis that ends a call; 0 if the text does not end with a call. */
function endOfCall(text: string): number {
    const from = Math.max(0, text.length - MAX_REST);
    for (let end = text.lastIndexOf(')'); end > from; end = text.lastIndexOf(')', end - 1))
        if (CALL_REST.test(text.slice(end + 1))) return end;
    return 0;
}

function plainIn(text: string): string {
    let start = 0;
    let end = text.length;
    while (text[start] === '\ufeff') start++;
    while (end > start && text[end - 1] === '\0') end--;
    return text.slice(start, end);
}

/** The media type of a Content-Type in lower case, without its parameters. */
export function essenceOf(header: string | undefined): string | undefined {
    const { essence } = readContentType(header);
    return essence === '' ? undefined : essence;
}

/** Proxies join the types of several headers with commas. The last one counts (WHATWG, "Fetch"), with the charset of an equal one. */
function readContentType(header = ''): { essence: string; charset: string | undefined } {
    const read: ReturnType<typeof readContentType> = { essence: '', charset: undefined };
    for (const part of header.split(',')) {
        const [written = ''] = part.split(';', 1);
        const essence = written.trim().toLowerCase();
        const found = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(part);
        const isType = /^[^\s/]+\/[^\s/]+$/.test(essence) && essence !== '*/*';
        read.charset = found?.[1] ?? found?.[2] ?? (isType && essence !== read.essence ? undefined : read.charset);
        if (isType) read.essence = essence;
    }
    return read;
}

function typeOf(essence: string): ResponseType | undefined {
    if (essence === '') return undefined;
    if (/^(?:application|text)\/(?:x-)?json$/.test(essence) || essence.endsWith('+json')) return 'json';
    if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html';
    return 'text';
}

function guessType(body: Uint8Array): ResponseType {
    const start = startOf(body, 256).trimStart();
    if (start === '' || beginsLikeJson(body)) return 'json';
    return start.startsWith('<') ? 'html' : 'text';
}

function beginsLikeJson(body: Uint8Array): boolean {
    return /^\s*[[{]/.test(startOf(body, 256));
}

/** Whether a body begins like JSON in a script, or with a prefix that guards JSON. */
function isGuarded(body: Uint8Array): boolean {
    const start = startOf(body, 512);
    return [GUARD, CALLBACK, ASSIGNMENT].some((beginning) => beginning.test(start));
}

/** The first bytes of a body as text, behind the blank lines that PHP leaves. Only its ASCII characters count. */
function startOf(body: Uint8Array, bytes: number): string {
    const from = Math.max(
        0,
        body.subarray(0, READ).findIndex((byte) => byte > SPACE),
    );
    return new TextDecoder(bomOf(body) ?? 'latin1').decode(body.subarray(from, from + bytes));
}

const SPACE = 0x20;

/** The part of a body that is searched for its beginning and its charset, in bytes. */
const READ = 64 * 1024;

function bomOf(body: Uint8Array): string | undefined {
    if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
    if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
    if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
    return undefined;
}

/** UTF-16 without a byte order mark, by the two ASCII characters with which XML and JSON begin. */
function utf16Of(body: Uint8Array): string | undefined {
    if (body.length < 4) return undefined;
    if (body[0] !== 0 && body[1] === 0 && body[2] !== 0 && body[3] === 0) return 'utf-16le';
    return body[0] === 0 && body[1] !== 0 && body[2] === 0 && body[3] !== 0 ? 'utf-16be' : undefined;
}

/** The charset that markup declares: in HTML in a `meta`, in XML and XHTML in the declaration at its beginning, whatever its type is called. */
function charsetInside(body: Uint8Array, type: ResponseType): string | undefined {
    return (type === 'html' ? metaCharset(body) : undefined) ?? declaredCharset(body);
}

/** The charset of an XML declaration, which is in ASCII and therefore not UTF-16. */
function declaredCharset(body: Uint8Array): string | undefined {
    const head = Buffer.from(body.subarray(0, 1024)).toString('latin1');
    return inAscii(/^\s{0,100}<\?xml\s[^<>]{0,200}?encoding\s*=\s*["']([a-z0-9_:.-]{1,40})["']/i.exec(head)?.[1]);
}

/** What is no markup of a page, although it may look like it. */
const NO_MARKUP = /<!--(?:-?>|[\s\S]*?(?:-->|$))|<(script|style|title|textarea)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const META = /<meta(?=[\s/])/i;
/** The attributes of an element, from its name on. */
const ATTRIBUTES = /^(?:[^"'>]|"[^"]{0,2000}"|'[^']{0,2000}'){0,2000}(?=>)/;
/** Pages have far fewer `meta` elements before the one that counts. */
const MAX_METAS = 100;
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

/**
 * The first known charset of the HTML `meta` elements, in ASCII: in their `charset`, or in the `content` of a Content-Type. It should be
 * within the first 1,024 bytes, but browsers obey a later one, too.
 */
function metaCharset(body: Uint8Array): string | undefined {
    const head = Buffer.from(body.subarray(0, READ)).toString('latin1').replaceAll(NO_MARKUP, '');
    for (const rest of head.split(META, MAX_METAS + 1).slice(1)) {
        const [written = ''] = ATTRIBUTES.exec(rest) ?? [];
        const attributes = new Map<string, string>();
        for (const [, name = '', double, single, bare] of written.matchAll(ATTRIBUTE))
            attributes.set(name.toLowerCase(), attributes.get(name.toLowerCase()) ?? double ?? single ?? bare ?? '');
        const isType = attributes.get('http-equiv')?.toLowerCase() === 'content-type';
        const ofType = isType ? /charset\s*=\s*["']?\s*([^\s"';]{1,40})/i.exec(attributes.get('content') ?? '')?.[1] : undefined;
        const label = inAscii((attributes.get('charset') ?? ofType)?.trim());
        if (knownEncoding(label) !== undefined) return label;
    }
    return undefined;
}

/** Markup that is readable as ASCII is not UTF-16, whatever it says: browsers use UTF-8. They read `x-user-defined` as Windows-1252. */
function inAscii(label: string | undefined): string | undefined {
    if (label === undefined) return undefined;
    if (/^x-user-defined$/i.test(label)) return 'windows-1252';
    return /^utf-?16/i.test(label) ? 'utf-8' : label;
}
