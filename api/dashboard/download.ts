import { Readable } from 'node:stream';
import type { ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { inTurns } from '../../shared/platform/turns.ts';

/** A file to download. It is sent while it is built. */
export interface Download {
    /** The file's name. It contains only letters, digits, `-` and `.`. */
    file: string;
    type: string;
    lines: AsyncIterable<string>;
}

/** Sends a file. Builds its first part before anything is sent, so that an error there is still answered with an error page. */
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
