import type { Fault, ItemDetail, RefusalCode } from './types.ts';

/**
 * Codes of this client's own, beside those of the server: nothing came back (`NETWORK_ERROR`), nothing came in time (`TIMEOUT`), or
 * something came that no Routebook says (`INVALID_ANSWER`); a job ended without a result (`NO_RESULT`), or a batch waits for its owner
 * (`BATCH_PAUSED`).
 */
export type ClientCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'INVALID_ANSWER' | 'NO_RESULT' | 'BATCH_PAUSED';

/** What is known of a failure beyond code and message; the server's own words where it answered. */
export interface Failure {
    code: RefusalCode | ClientCode;
    message: string;
    /** 0 where no answer came. */
    status?: number;
    fault?: Fault;
    retryable?: boolean;
    /** Whole seconds. */
    retryAfter?: number;
    details?: ItemDetail[];
    /** Of a batch: all problems, of which `details` has the first. */
    problems?: number;
    requestId?: string;
    docUrl?: string;
    creditsUsed?: number;
    creditsRemaining?: number;
    /** Where more credits come from: the next plan, and the page that leads there. */
    upgrade?: { to: string; url: string };
    upstream?: { status: number; snippet: string };
    didYouMean?: string[];
    /** Of a write: repeat the call with it and nothing is done or charged twice. */
    idempotencyKey?: string;
}

/** Every failed call ends in this one, but for a call that its own AbortSignal ended. */
export class RoutebookError extends Error {
    override readonly name = 'RoutebookError';
    readonly code: RefusalCode | ClientCode;
    readonly status: number;
    /** Whose move it is. */
    readonly fault: Fault;
    /** Whether the very same call may succeed later. */
    readonly retryable: boolean;
    readonly retryAfter: number | undefined;
    readonly details: readonly ItemDetail[];
    readonly problems: number | undefined;
    readonly requestId: string | undefined;
    readonly docUrl: string | undefined;
    readonly creditsUsed: number | undefined;
    readonly creditsRemaining: number | undefined;
    readonly upgrade: { to: string; url: string } | undefined;
    readonly upstream: { status: number; snippet: string } | undefined;
    readonly didYouMean: readonly string[];
    readonly idempotencyKey: string | undefined;

    constructor(failure: Failure, options?: { cause?: unknown }) {
        super(failure.message, options);
        this.code = failure.code;
        this.status = failure.status ?? 0;
        this.fault = failure.fault ?? 'service';
        this.retryable = failure.retryable ?? false;
        this.retryAfter = failure.retryAfter;
        this.details = failure.details ?? [];
        this.problems = failure.problems;
        this.requestId = failure.requestId;
        this.docUrl = failure.docUrl;
        this.creditsUsed = failure.creditsUsed;
        this.creditsRemaining = failure.creditsRemaining;
        this.upgrade = failure.upgrade;
        this.upstream = failure.upstream;
        this.didYouMean = failure.didYouMean ?? [];
        this.idempotencyKey = failure.idempotencyKey;
    }
}

/** The error envelope (docs/api.md, "Errors"), as far as it can be trusted: a proxy in between may answer anything. */
interface Envelope {
    error: {
        code: RefusalCode;
        message: string;
        fault?: Fault;
        retryable?: boolean;
        retry_after?: number;
        details?: ItemDetail[];
        problems?: number;
        request_id?: string;
        doc_url?: string;
        upgrade_to?: string;
        upgrade_url?: string;
        upstream?: { status: number; snippet: string };
        did_you_mean?: string[];
    };
    meta?: { credits_used?: number; credits_remaining?: number };
}

/** What an answer that is no success says. @param retryAfterHeader seconds, where the envelope names none */
export function failureOf(status: number, body: unknown, retryAfterHeader: string | null): Failure {
    const retryAfter = /^\d{1,9}$/.test(retryAfterHeader ?? '') ? Number(retryAfterHeader) : undefined;
    if (!isEnvelope(body)) {
        return {
            code: 'INVALID_ANSWER',
            message: `The address answered ${status} with something that is no answer of Routebook.`,
            status,
            // What stands between, such as a proxy whose server is being replaced.
            retryable: status === 502 || status === 503 || status === 504,
            ...(retryAfter === undefined ? {} : { retryAfter }),
        };
    }
    const { error, meta = {} } = body;
    const { upgrade_to: to, upgrade_url: url } = error;
    return withoutGaps({
        code: error.code,
        message: error.message,
        status,
        fault: error.fault,
        retryable: error.retryable,
        retryAfter: error.retry_after ?? retryAfter,
        details: error.details,
        problems: error.problems,
        requestId: error.request_id,
        docUrl: error.doc_url,
        creditsUsed: meta.credits_used,
        creditsRemaining: meta.credits_remaining,
        upgrade: to === undefined || url === undefined ? undefined : { to, url },
        upstream: error.upstream,
        didYouMean: error.did_you_mean,
    });
}

function isEnvelope(body: unknown): body is Envelope {
    if (typeof body !== 'object' || body === null || !('error' in body)) return false;
    const { error } = body;
    return typeof error === 'object' && error !== null && 'code' in error && 'message' in error && typeof error.code === 'string';
}

type Gappy = { [Name in keyof Failure]: Failure[Name] | undefined } & Pick<Failure, 'code' | 'message'>;

function withoutGaps(failure: Gappy): Failure {
    return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== undefined)) as unknown as Failure;
}
