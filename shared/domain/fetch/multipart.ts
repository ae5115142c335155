import { createHash } from 'node:crypto';
import { isObject } from '../json/schema/structure.ts';
import type { Endpoint, Json, JsonObject, JsonSchema } from '../types.ts';
import { itemsOf, placeholderIn } from './body-template.ts';
import { asFile, withoutBytes } from './files.ts';

/** The media types of the texts of a multipart body, by field: the `contentMediaType` of a param's schema, or of its items. */
export function partTypesOf({ params, body }: Pick<Endpoint, 'params' | 'body'>): ReadonlyMap<string, string> {
    const ofParams = new Map(params.filter(({ source }) => source === 'body').map(({ name, schema }) => [name, textTypeOf(schema)]));
    const fields = isObject(body) ? Object.entries(body) : [...ofParams.keys()].map((name): [string, Json] => [name, `{${name}}`]);
    return new Map(
        fields.flatMap(([field, value]) => {
            const type = typeof value === 'string' ? ofParams.get(placeholderIn(value) ?? '') : undefined;
            return type === undefined ? [] : [[field, type]];
        }),
    );
}

function textTypeOf(schema: JsonSchema | undefined): string | undefined {
    if (!isObject(schema)) return undefined;
    const type = schema['contentMediaType'];
    if (type === undefined) return isObject(schema['items']) ? textTypeOf(schema['items']) : undefined;
    return typeof type === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type) ? type : undefined;
}

interface MultipartBody {
    bytes: Uint8Array;
    boundary: string;
    /** The fields, with the size of each file instead of its bytes. */
    shown: JsonObject;
}

/**
 * Encodes fields and files as `multipart/form-data` (RFC 7578) in the given order. A list repeats its name, null is left out. The boundary
 * is derived from the content. So equal calls have equal bodies, and no content can contain its own boundary.
 * @param types the media types of texts, by field; without one, a site takes a text for plain
 */
export function encodeMultipart(fields: Json, types: ReadonlyMap<string, string>): MultipartBody {
    const entries = isObject(fields) ? Object.entries(fields) : [];
    const parts = entries.flatMap(([name, value]) => itemsOf(value).map((item) => partOf(name, item, types.get(name))));
    const hash = createHash('sha256');
    for (const { head, content } of parts) hash.update(head).update(content);
    const boundary = `routebook-${hash.digest('hex').slice(0, 40)}`;
    const pieces = parts.flatMap(({ head, content }) => [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), content, LINE_END]);
    const bytes = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
    return { bytes, boundary, shown: Object.fromEntries(entries.map(([name, value]) => [name, withoutBytes(value)])) };
}

const LINE_END = Buffer.from('\r\n');

function partOf(name: string, item: Json, textType: string | undefined): { head: string; content: Uint8Array } {
    const disposition = `Content-Disposition: form-data; name="${escapeQuotes(name)}"`;
    if (!isObject(item)) {
        const head = textType === undefined ? disposition : `${disposition}\r\nContent-Type: ${textType}`;
        return { head, content: Buffer.from(typeof item === 'string' ? item : JSON.stringify(item)) };
    }
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
