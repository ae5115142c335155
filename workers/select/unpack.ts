import { gunzipSync } from 'node:zlib';
import { InvalidResponse } from './invalid-response.ts';
import type { RawPage } from './read-page.ts';

/** A body whose header names its compression may have as many bytes after unpacking. */
export const MAX_UNPACKED = 5 * 1024 * 1024;

/** Whether a body is a file of gzip, such as `sitemap.xml.gz`. No header names its compression, so it arrives as it is. */
export function isPacked(body: Uint8Array): boolean {
    return body[0] === 0x1f && body[1] === 0x8b && body[2] === 8;
}

/** The page with the content of its file, unless the endpoint wants the file. @throws InvalidResponse */
export function unpacked(page: RawPage): RawPage {
    if (page.type === 'binary' || !isPacked(page.body)) return page;
    try {
        return { ...page, body: gunzipSync(page.body, { maxOutputLength: MAX_UNPACKED }) };
    } catch (error) {
        if (error instanceof RangeError)
            throw new InvalidResponse('The answer has more than 5 MiB after unpacking.', [], 'UPSTREAM_TOO_LARGE');
        throw new InvalidResponse('The answer cannot be unpacked.');
    }
}
