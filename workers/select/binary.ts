import { hash } from 'node:crypto';
import { essenceOf } from './content-type.ts';
import { InvalidResponse } from './invalid-response.ts';

/** Largest answer of type `binary` (docs/api.md, "Schema packages"). */
const MAX_BYTES = 2 * 1024 * 1024;

/** A file as the JSON `{content_type, bytes, sha256, base64}`. @throws InvalidResponse for more than 2 MiB */
export function fileAsJson({ body, contentType }: { body: Uint8Array; contentType: string | undefined }): string {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
    if (bytes.length > MAX_BYTES) throw new InvalidResponse(`The file has more than ${MAX_BYTES} bytes.`, [], 'UPSTREAM_TOO_LARGE');
    return JSON.stringify({
        content_type: essenceOf(contentType) ?? null,
        bytes: bytes.length,
        sha256: hash('sha256', bytes),
        base64: bytes.toString('base64'),
    });
}
