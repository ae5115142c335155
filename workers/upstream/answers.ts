import type { IncomingHttpHeaders } from 'node:http';
import type { FetchFailure, UpstreamFigures } from '../../shared/domain/fetch/fetch-job.ts';
import type { Method } from '../../shared/domain/types.ts';

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

export type UpstreamFailure = Pick<FetchFailure, 'ok' | 'code' | 'message' | 'retryAfter' | 'upstream' | 'isUnsent' | 'isCallers'> & {
    attempts: number;
};

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

/** Whether an answer is empty and its data is `{}`: it has no body by definition, or an empty body with 200, 201 or 202. */
export function isEmptyAnswer(answer: { status: number; method: Method; body: Uint8Array }): boolean {
    return hasNoBody(answer) || (answer.body.length === 0 && MAY_BE_EMPTY.has(answer.status));
}
