import type { IncomingHttpHeaders } from 'node:http';
import type { UpstreamFigures } from '../../shared/domain/fetch/fetch-job.ts';
import type { Method } from '../../shared/domain/types.ts';
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
