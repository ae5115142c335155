import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { openApiDocument } from '../../shared/contracts/openapi.ts';
import type { Bytes, Tagged } from '../answers/etag.ts';
import type { Call } from '../serve.ts';

interface Made {
    publicUrl: string;
    tag: string;
    bytes: Promise<Bytes>;
}

/** Building the document takes 3 to 10 ms, so it is built once. */
let made: Made | undefined;

/** GET /v1/openapi.json: the first request builds, hashes and compresses it. Later ones share its bytes. */
export async function showOpenApi({ app }: Pick<Call<object, object, undefined>, 'app'>): Promise<Tagged> {
    const publicUrl = app.publicUrl();
    if (made?.publicUrl !== publicUrl) made = make(publicUrl);
    const { tag, bytes } = made;
    return { tag, read: () => bytes };
}

function make(publicUrl: string): Made {
    const plain = Buffer.from(JSON.stringify(openApiDocument(publicUrl)));
    const bytes = promisify(gzip)(plain).then((gzipped) => ({ plain, gzipped }));
    return { publicUrl, tag: createHash('sha256').update(plain).digest('hex'), bytes };
}
