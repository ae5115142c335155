import { constants, gunzipSync } from 'node:zlib';
import type { ResponseType } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';

/** The same limit as for a body whose header names its compression. */
const MAX_UNPACKED = 5 * 1024 * 1024;

/** Whether a body is a gzip file, such as `sitemap.xml.gz`. No header names its compression, so it arrives packed. */
export function isPacked(body: Uint8Array): boolean {
    return body[0] === 0x1f && body[1] === 0x8b && body[2] === 8;
}

/** Maximum number of bytes that a body may have after unpacking. */
export function maxUnpacked(body: Uint8Array): number {
    return isPacked(body) ? MAX_UNPACKED : body.length;
}

/** Packed bytes that are enough for the beginning of the content, behind the name of the file. They unpack to half a MiB at most. */
const START = 512;

/** The beginning of the content of a gzip file. Any other body, and a broken file, is returned unchanged. */
export function unpackedStart(body: Uint8Array): Uint8Array {
    if (!isPacked(body)) return body;
    try {
        return gunzipSync(body.subarray(0, START), { finishFlush: constants.Z_SYNC_FLUSH });
    } catch {
        return body;
    }
}

/** The page with the content of its file, unless the endpoint wants the file. @throws InvalidResponse */
export function unpacked<Page extends { type: ResponseType; body: Uint8Array; wasEncoded?: boolean }>(page: Page): Page {
    // A body is decompressed once only, by its header or here.
    if (page.type === 'binary' || page.wasEncoded || !isPacked(page.body)) return page;
    try {
        return { ...page, body: gunzipSync(page.body, { maxOutputLength: MAX_UNPACKED }) };
    } catch (error) {
        if (error instanceof RangeError)
            throw new InvalidResponse('The answer has more than 5 MiB after unpacking.', [], 'UPSTREAM_TOO_LARGE');
        throw new InvalidResponse('The answer cannot be unpacked.');
    }
}
