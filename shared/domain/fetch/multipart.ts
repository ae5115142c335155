import { createHash } from 'node:crypto';
import { isObject } from '../json/schema/structure.ts';
import type { Json, JsonObject } from '../types.ts';
import { asFile, withoutBytes } from './files.ts';

interface MultipartBody {
    bytes: Uint8Array;
    boundary: string;
    /** The fields, with the size of each file instead of its bytes. */
    shown: JsonObject;
}

interface Part {
    head: string;
    content: Uint8Array;
}

/**
 * Encodes fields and files as `multipart/form-data` (RFC 7578) in the given order. A list repeats its name, null is left out. The boundary
 * is derived from the content. So equal calls have equal bodies, and no content can contain its own boundary.
 */
export function encodeMultipart(fields: Json): MultipartBody {
    const entries = isObject(fields) ? Object.entries(fields) : [];
    const parts = entries.flatMap(([name, value]) => itemsOf(value).map((item) => partOf(name, item)));
    const hash = createHash('sha256');
    for (const { head, content } of parts) hash.update(head).update(content);
    const boundary = `routebook-${hash.digest('hex').slice(0, 40)}`;
    const pieces = parts.flatMap(({ head, content }) => [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), content, LINE_END]);
    const bytes = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
    return { bytes, boundary, shown: Object.fromEntries(entries.map(([name, value]) => [name, withoutBytes(value)])) };
}

const LINE_END = Buffer.from('\r\n');

/** A list in the template may contain a list of the caller. */
function itemsOf(value: Json): Json[] {
    return [value].flat(2).filter((item) => item !== null);
}

function partOf(name: string, item: Json): Part {
    const disposition = `Content-Disposition: form-data; name="${escapeQuotes(name)}"`;
    if (!isObject(item)) return { head: disposition, content: Buffer.from(typeof item === 'string' ? item : JSON.stringify(item)) };
    const { filename, content_type: type, base64 } = asFile(item);
    return {
        head: `${disposition}; filename="${escapeQuotes(filename)}"\r\nContent-Type: ${type}`,
        content: Buffer.from(base64, 'base64'),
    };
}

/** Percent-encodes characters that would end a name, like browsers do. */
function escapeQuotes(text: string): string {
    return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
