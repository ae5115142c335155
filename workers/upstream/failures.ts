import { codeOfError } from '../../shared/platform/error-code.ts';
import type { RefusalCode } from '../../shared/refusals.ts';
import { EgressDenied } from '../egress.ts';

export interface Fault {
    code: RefusalCode;
    /** Public message; absent: the default message of the code. */
    message?: string;
    /** Whether a retry of a read may succeed. */
    isTransient: boolean;
    status?: number;
    snippet?: string;
    /** See `FetchFailure`. */
    isCallers?: boolean;
    /** Seconds, from the site's own Retry-After. */
    retryAfter?: number;
}

/** Thrown only inside `workers/upstream/`. `send` returns it as a value. */
export class UpstreamFault extends Error {
    readonly fault: Fault;

    constructor(code: RefusalCode, message?: string, more: Partial<Fault> = {}) {
        super(message ?? code);
        this.fault = { code, isTransient: false, ...(message === undefined ? {} : { message }), ...more };
    }
}

const TOO_LARGE = new Set(['HPE_HEADER_OVERFLOW', 'HPE_CHUNK_EXTENSIONS_OVERFLOW', 'ERR_HTTP_MAX_HEADERS_COUNT']);
const BROKEN_CONNECTION = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED']);
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const NO_NAME = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME', 'ENODATA']);

export const NO_SUCH_NAME = 'The name of the site does not resolve.';

/** Maps an error of got, Node's client or the connector to the contract's codes (docs/api.md, "Error codes"). */
export function faultOf(error: unknown): Fault {
    const causes = causesOf(error);
    for (const cause of causes) {
        if (cause instanceof UpstreamFault) return cause.fault;
        if (cause instanceof EgressDenied) return { code: 'EGRESS_DENIED', isTransient: false };
    }
    const codes = causes.map(codeOfError);
    const has = (set: ReadonlySet<string>) => codes.some((code) => set.has(code));
    if (has(TOO_LARGE)) return { code: 'UPSTREAM_TOO_LARGE', message: 'The headers of the answer are too large.', isTransient: false };
    if (has(NO_NAME)) return unreachable(NO_SUCH_NAME, codes.includes('EAI_AGAIN'));
    if (has(NO_CONNECTION)) return unreachable('The site does not accept connections.', true);
    if (codes.some((code) => code.startsWith('HPE_'))) return unreachable('The site did not answer with valid HTTP.', false);
    if (has(BROKEN_CONNECTION)) return unreachable('The connection to the site broke off.', true);
    if (codes.some((code) => /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code))) {
        return unreachable('The TLS connection to the site failed.', false);
    }
    return unreachable(undefined, false);
}

function unreachable(message: string | undefined, isTransient: boolean): Fault {
    return { code: 'UPSTREAM_UNREACHABLE', isTransient, ...(message === undefined ? {} : { message }) };
}

/** The error and its causes. got wraps errors, and the innermost one is the most specific. */
function causesOf(error: unknown): unknown[] {
    const causes: unknown[] = [];
    for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause) causes.push(cause);
    return causes;
}
