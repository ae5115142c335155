import type { ResponseType } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';

/**
 * The type of a body: from the package, else from the Content-Type, else from its first bytes. Many sites label JSON as text or a
 * script. If the endpoint selects from the body, a body that begins like JSON is JSON.
 */
export function typeOfBody(
    body: Uint8Array,
    contentType: string | undefined,
    { wanted, isTakenApart }: { wanted: ResponseType | undefined; isTakenApart: boolean },
): ResponseType {
    if (wanted !== undefined) return wanted;
    const said = typeOf(readContentType(contentType).essence);
    if (said === 'text' && isTakenApart && guessType(body) === 'json') return 'json';
    return said ?? guessType(body);
}

/**
 * Decodes a body, JSON too, by the charset of its Content-Type, its byte order mark, for HTML its `meta`, else as UTF-8 (docs/api.md, "Hosted fetch"). An
 * unknown charset, or bytes that do not fit it, are a fault of the answer.
 * @throws InvalidResponse
 */
export function decode({ body, contentType, type }: { body: Uint8Array; contentType: string | undefined; type: ResponseType }): string {
    const { charset } = readContentType(contentType);
    // The byte order mark gives the order of plain "utf-16" (RFC 2781, 4.3).
    const named = /^utf-?16$/i.test(charset ?? '') ? (bomOf(body) ?? charset) : charset;
    return toText(body, named ?? bomOf(body) ?? (type === 'html' ? metaCharset(body) : undefined) ?? 'utf-8');
}

/** Whether the bytes of a body are UTF-8, as declared. */
export function isUtf8({ body, contentType }: { body: Uint8Array; contentType: string | undefined }): boolean {
    const { charset } = readContentType(contentType);
    return charset === undefined ? bomOf(body) === undefined : /^utf-?8$/i.test(charset);
}

function readContentType(header: string | undefined): { essence: string; charset: string | undefined } {
    if (header === undefined) return { essence: '', charset: undefined };
    const [essence = ''] = header.split(';', 1);
    const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(header);
    return { essence: essence.trim().toLowerCase(), charset: charset?.[1] ?? charset?.[2] };
}

function typeOf(essence: string): ResponseType | undefined {
    if (essence === '') return undefined;
    if (essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json')) return 'json';
    if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html';
    return 'text';
}

/** Guesses the type of a body by its first bytes. */
function guessType(body: Uint8Array): ResponseType {
    const start = Buffer.from(body.subarray(0, 256))
        .toString('latin1')
        .replace(/^\u00ef\u00bb\u00bf/, '')
        .trimStart();
    if (start === '' || start.startsWith('{') || start.startsWith('[')) return 'json';
    return start.startsWith('<') ? 'html' : 'text';
}

function bomOf(body: Uint8Array): string | undefined {
    if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
    if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
    return undefined;
}

/** The charset of an HTML `meta`, which is within the first 1,024 bytes, in ASCII. */
function metaCharset(body: Uint8Array): string | undefined {
    const head = Buffer.from(body.subarray(0, 1024)).toString('latin1');
    const label = /<meta\s[^<>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})/i.exec(head)?.[1];
    // A `meta` readable as ASCII is not UTF-16, whatever it says. Browsers use UTF-8.
    return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function toText(body: Uint8Array, label: string): string {
    try {
        return new TextDecoder(label, { fatal: true }).decode(body);
    } catch (error) {
        if (error instanceof RangeError) throw new InvalidResponse('The answer names a charset that does not exist.');
        throw new InvalidResponse('The answer is not in the charset that it names, or not in UTF-8 where it names none.');
    }
}
