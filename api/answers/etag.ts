import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';

/** The bytes of an answer, plain and perhaps gzipped. */
export interface Bytes {
    plain: string | Buffer;
    gzipped?: Buffer;
}

/** A cacheable answer. Its bytes are made only for clients without a current copy. */
export interface Tagged {
    /** The hash of these bytes, in hex. */
    tag: string;
    read(): Promise<Bytes>;
}

/** Answers 304 where the client has the current answer, otherwise 200. Both carry the caching headers. */
export async function sendTagged(
    { tag, read }: Tagged,
    { status, seconds }: { status: number; seconds: number },
    request: Request,
    h: ResponseToolkit,
): Promise<ResponseObject> {
    const known = knownTag(request.raw.req.headers['if-none-match'], tag);
    const response = known === undefined ? send(await read(), request, h).code(status) : h.response().code(304);
    // hapi ends the tag of a compressed answer with `-gzip`: a strong tag names one sequence of bytes.
    response.etag(known ?? tag, { vary: known === undefined, weak: false });
    return response.header('cache-control', `public, max-age=${seconds}`);
}

function send({ plain, gzipped }: Bytes, request: Request, h: ResponseToolkit): ResponseObject {
    const isGzipped = gzipped !== undefined && request.info.acceptEncoding === 'gzip';
    const response = h.response(isGzipped ? gzipped : plain).type('application/json; charset=utf-8');
    return isGzipped ? response.compressed('gzip').vary('accept-encoding') : response;
}

/**
 * The tag under which a caller has this very content already: If-None-Match compares weakly (RFC 9110 section 13.1.2), and
 * the content is the same in every encoding.
 */
function knownTag(header: string | undefined, tag: string): string | undefined {
    for (const given of header?.split(',') ?? []) {
        if (given.trim() === '*') return tag;
        const [, name, encoding = ''] = /^(?:W\/)?"([0-9a-f]+)(-[a-z]+)?"$/.exec(given.trim()) ?? [];
        if (name === tag) return name + encoding;
    }
    return undefined;
}
