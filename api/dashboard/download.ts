import { Readable } from 'node:stream';
import type { ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { inTurns } from '../../shared/platform/turns.ts';

/** A file to keep, sent while it is made. */
export interface Download {
    /** Its name; letters, digits, `-` and `.` alone. */
    file: string;
    type: string;
    lines: AsyncIterable<string>;
}

/** Sends a file. Its beginning is made before anything goes out, so that what fails there is answered as a page would be. */
export async function sendFile(h: ResponseToolkit, { file, type, lines }: Download): Promise<ResponseObject> {
    const iterator = inTurns(lines);
    const first = await iterator.next();
    const stream = Readable.from(inChunks(first, iterator), { objectMode: false });
    return h
        .response(stream)
        .type(type)
        .header('content-disposition', `attachment; filename="${file}"`)
        .header('cache-control', 'no-store')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('x-frame-options', 'DENY')
        .header('referrer-policy', 'same-origin');
}

async function* inChunks(first: IteratorResult<string>, iterator: AsyncIterator<string>): AsyncGenerator<Buffer> {
    for (let step = first; step.done !== true; step = await iterator.next()) yield Buffer.from(step.value);
}
