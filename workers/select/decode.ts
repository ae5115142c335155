import type { ResponseType } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';

/**
 * What a body is read as: as the package says, else as its Content-Type says, else by how it begins. Many sites call their JSON text
 * or a script: where something is to be found in the body, one that begins like JSON is read as JSON.
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
 * Decodes a body by its declared charset (JSON too): the one of the Content-Type, for HTML also the one of its `meta`, a byte order
 * mark, UTF-8 without any of them (CONTRACT 4). A charset that is unknown, or that the bytes contradict, is a fault of the answer.
 * @throws InvalidResponse
 */
export function decode({ body, contentType, type }: { body: Uint8Array; contentType: string | undefined; type: ResponseType }): string {
    const { charset } = readContentType(contentType);
    // UTF-16 of no order is in that of its mark (RFC 2781, 4.3).
    const named = /^utf-?16$/i.test(charset ?? '') ? (bomOf(body) ?? charset) : charset;
    return toText(body, named ?? bomOf(body) ?? (type === 'html' ? metaCharset(body) : undefined) ?? 'utf-8');
}

/** Whether the bytes of a body can be looked at as UTF-8 text, or as ASCII within it. */
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

/** An answer that does not say what it is: read as JSON or HTML where it begins like one. */
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

/** HTML names its charset within its first 1,024 bytes, in ASCII. */
function metaCharset(body: Uint8Array): string | undefined {
    const head = Buffer.from(body.subarray(0, 1024)).toString('latin1');
    const label = /<meta\s[^<>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})/i.exec(head)?.[1];
    // What could be read so far is no UTF-16, whatever it says of itself: browsers take it for UTF-8.
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
