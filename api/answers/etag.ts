import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { packed } from './packed.ts';

export interface Bytes {
    plain: string | Buffer;
    gzipped?: Buffer;
}

/** A cacheable answer. Its bytes are built only for clients without a current copy. */
export interface AnswerWithETag {
    /** The hash of these bytes, in hex. */
    tag: string;
    read(): Promise<Bytes>;
}

/** Answers 304 if the client has the current answer, otherwise 200. Both have the caching headers. */
export async function sendWithETag(
    { tag, read }: AnswerWithETag,
    { status, seconds }: { status: number; seconds: number },
    request: Request,
    h: ResponseToolkit,
): Promise<ResponseObject> {
    const known = knownTag(request.raw.req.headers['if-none-match'], tag);
    const response =
        known === undefined
            ? sendBytes(await read(), request, h)
                  .type('application/json; charset=utf-8')
                  .code(status)
            : h.response().code(304);
    // hapi appends `-gzip` to the tag of a compressed answer, because a strong tag identifies one sequence of bytes.
    response.etag(known ?? tag, { vary: known === undefined, weak: false });
    return response.header('cache-control', `public, max-age=${seconds}`);
}

/** Sends the bytes in the encoding that the client accepts. */
export function sendBytes({ plain, gzipped }: Bytes, request: Request, h: ResponseToolkit): ResponseObject {
    const isGzipped = gzipped !== undefined && request.info.acceptEncoding === 'gzip';
    return isGzipped ? h.response(gzipped).compressed('gzip').vary('accept-encoding') : packed(plain, request, h);
}

/**
 * The tag in If-None-Match under which the client already has this content. If-None-Match uses weak comparison (RFC 9110, section 13.1.2),
 * and the content is the same in every encoding.
 */
function knownTag(header: string | undefined, tag: string): string | undefined {
    for (const given of header?.split(',') ?? []) {
        if (given.trim() === '*') return tag;
        const [, name, encoding = ''] = /^(?:W\/)?"([0-9a-f]+)(-[a-z]+)?"$/.exec(given.trim()) ?? [];
        if (name === tag) return name + encoding;
    }
    return undefined;
}
