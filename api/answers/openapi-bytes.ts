import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { openApiDocument } from '../../shared/contracts/openapi.ts';
import { stepsInTurns } from '../../shared/platform/turns.ts';

interface OpenApiBytes {
    tag: string;
    plain: Buffer;
    gzipped: Buffer;
}

/** Kept, since building the document takes 30 to 150 ms. */
let made: { publicUrl: string; bytes: Promise<OpenApiBytes> } | undefined;

/** The OpenAPI document of this server. The first caller has it built; the route and the documentation share it. */
export function openApiBytes(publicUrl: string): Promise<OpenApiBytes> {
    if (made?.publicUrl === publicUrl) return made.bytes;
    const bytes = make(publicUrl);
    made = { publicUrl, bytes };
    bytes.catch(() => {
        made = undefined;
    });
    return bytes;
}

async function make(publicUrl: string): Promise<OpenApiBytes> {
    const plain = Buffer.from(JSON.stringify(await stepsInTurns(openApiDocument(publicUrl))));
    return { tag: hash('sha256', plain), plain, gzipped: await promisify(gzip)(plain) };
}
