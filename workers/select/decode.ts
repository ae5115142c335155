import type { ResponseType } from '../../shared/domain/types.ts';
import { readContentType } from './content-type.ts';
import { decodeKorean } from './korean.ts';

/** A body, and the signs of its encoding. */
export interface Undecoded {
    body: Uint8Array;
    contentType: string | undefined;
    type: ResponseType;
    /** `response.charset` of the endpoint, a known label. */
    charset?: string | undefined;
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

/** The part of a body that is searched for its beginning and its charset, in bytes. */
export const SEARCHED_BYTES = 64 * 1024;

/** The encoding that a byte order mark names. */
export function bomOf(body: Uint8Array): string | undefined {
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

/** Text that may look like markup, but is not. */
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
    const head = Buffer.from(body.subarray(0, SEARCHED_BYTES)).toString('latin1').replaceAll(NO_MARKUP, '');
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
