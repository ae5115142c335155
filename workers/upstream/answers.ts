import type { IncomingHttpHeaders } from 'node:http';
import type { UpstreamFigures } from '../../shared/domain/fetch/fetch-job.ts';
import type { Method, ResponseType } from '../../shared/domain/types.ts';
import type { RefusalCode } from '../../shared/refusals.ts';

/** A final 2xx answer with a complete, unpacked body. */
export interface Page {
    status: number;
    headers: IncomingHttpHeaders;
    body: Uint8Array;
    /** The final URL, after redirects. */
    url: string;
    method: Method;
}

export interface UpstreamAnswer {
    ok: true;
    page: Page;
    /** Headers of the redirects before the page, and of the page. */
    heads: readonly IncomingHttpHeaders[];
    figures: UpstreamFigures;
}

export interface UpstreamFailure {
    ok: false;
    code: RefusalCode;
    message?: string;
    /** Whole seconds. */
    retryAfter?: number;
    upstream?: { status: number; snippet: string };
    attempts: number;
    /** See `FetchFailure`. */
    isUnsent?: true;
    isCallers?: true;
}

/** The cost of one request to a site, for metrics. */
export interface RequestFigures {
    site: string;
    /** `success`, `redirect` or the code. */
    result: string;
    seconds: number;
    /** Body bytes on the wire. */
    bytesIn: number;
    bytesOut: number;
}

/** Whether an answer has no body by definition: 204, 205 and answers to HEAD. */
export function hasNoBody({ status, method }: { status: number; method: Method }): boolean {
    return method === 'HEAD' || status === 204 || status === 205;
}

/** Statuses with which sites confirm a write without a body. */
const MAY_BE_EMPTY: ReadonlySet<number> = new Set([200, 201, 202]);

/** Whether an answer is empty and its data is `{}`: it has no body by definition, or no content with 200, 201 or 202. */
export function isEmptyAnswer(answer: { status: number; method: Method; body: Uint8Array; type: ResponseType }): boolean {
    return hasNoBody(answer) || (MAY_BE_EMPTY.has(answer.status) && hasNoContent(answer));
}

/** Types of which blanks may be the content. */
const MAY_BE_BLANK: ReadonlySet<ResponseType> = new Set(['text', 'binary']);

/** Some frameworks answer a blank instead of nothing, and files of PHP a line break or a byte order mark. */
const MAX_BLANKS = 64;

function hasNoContent({ body, type }: { body: Uint8Array; type: ResponseType }): boolean {
    if (body.length === 0 || body.length > MAX_BLANKS || MAY_BE_BLANK.has(type)) return body.length === 0;
    return new TextDecoder().decode(body).trim() === '';
}
