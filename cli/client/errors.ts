import { defined } from '../../shared/domain/defined.ts';
import type { ErrorBody } from '../../shared/refusals.ts';
import type { Fault, ItemDetail, RefusalCode } from './types.ts';

/**
 * Codes of this client in addition to those of the server: no answer (`NETWORK_ERROR`), no answer in time (`TIMEOUT`), an answer that is
 * too long or not from Routebook (`INVALID_ANSWER`), a job that ended without a result (`NO_RESULT`), a paused batch (`BATCH_PAUSED`).
 */
export type ClientCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'INVALID_ANSWER' | 'NO_RESULT' | 'BATCH_PAUSED';

/** The fields of a failure; those of the server if it answered. */
export interface Failure {
    code: RefusalCode | ClientCode;
    message: string;
    /** The HTTP status; 0 without an answer. */
    status?: number;
    fault?: Fault;
    retryable?: boolean;
    /** Whole seconds. */
    retryAfter?: number;
    details?: readonly ItemDetail[];
    /** For batches: the number of all problems; `details` lists the first. */
    problems?: number;
    requestId?: string;
    docUrl?: string;
    creditsUsed?: number;
    creditsRemaining?: number;
    /** How to get more credits: the next plan and the URL of its page. */
    upgrade?: { to: string; url: string };
    /** Where a person connects the site that needs a credential. */
    connectUrl?: string;
    /** Where people get that credential. */
    obtainUrl?: string;
    upstream?: { status: number; snippet: string };
    didYouMean?: readonly string[];
    /** For writes: repeat the call with this key, so that nothing is done or charged twice. */
    idempotencyKey?: string;
}

/** The error of every failed call, except one that the caller's AbortSignal ended. Its fields are those of `Failure`. */
export class RoutebookError extends Error {
    override readonly name = 'RoutebookError';
    declare readonly code: RefusalCode | ClientCode;
    readonly status: number = 0;
    /** Who caused it. */
    readonly fault: Fault = 'service';
    /** Whether the same call may succeed later. */
    readonly retryable: boolean = false;
    declare readonly retryAfter: number | undefined;
    readonly details: readonly ItemDetail[] = [];
    declare readonly problems: number | undefined;
    declare readonly requestId: string | undefined;
    declare readonly docUrl: string | undefined;
    declare readonly creditsUsed: number | undefined;
    declare readonly creditsRemaining: number | undefined;
    declare readonly upgrade: { to: string; url: string } | undefined;
    declare readonly connectUrl: string | undefined;
    declare readonly obtainUrl: string | undefined;
    declare readonly upstream: { status: number; snippet: string } | undefined;
    readonly didYouMean: readonly string[] = [];
    declare readonly idempotencyKey: string | undefined;

    constructor({ message, ...fields }: Failure, options?: { cause?: unknown }) {
        super(message, options);
        // A field that is null counts as absent.
        Object.assign(this, Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)));
    }
}

/** An answer with an error. Most fields are optional, since a proxy may answer anything. */
interface Envelope {
    error: Partial<ErrorBody> & Pick<ErrorBody, 'message'> & { code: RefusalCode };
    meta?: { credits_used?: number; credits_remaining?: number };
}

/** Reads an unsuccessful answer. @param retryAfterHeader seconds, used if the envelope names none */
export function failureOf(status: number, body: unknown, retryAfterHeader: string | null): Failure {
    const retryAfter = /^\d{1,9}$/.test(retryAfterHeader ?? '') ? Number(retryAfterHeader) : undefined;
    if (!isEnvelope(body)) {
        return {
            code: 'INVALID_ANSWER',
            message: `The address answered ${status}, but not with an answer of Routebook.`,
            status,
            // An answer of an intermediary, such as a proxy during a deployment.
            retryable: status === 502 || status === 503 || status === 504,
            ...(retryAfter === undefined ? {} : { retryAfter }),
        };
    }
    const { error, meta = {} } = body;
    const { upgrade_to: to, upgrade_url: url } = error;
    return defined<Failure>({
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
        connectUrl: error.connect_url,
        obtainUrl: error.obtain_url,
        upstream: error.upstream,
        didYouMean: error.did_you_mean,
    });
}

function isEnvelope(body: unknown): body is Envelope {
    if (typeof body !== 'object' || body === null || !('error' in body)) return false;
    const { error } = body;
    return typeof error === 'object' && error !== null && 'code' in error && 'message' in error && typeof error.code === 'string';
}

/** The fields of the server's error, as it sent them. */
export function errorBodyOf(error: RoutebookError) {
    const { code, message, status, fault, retryable, retryAfter, details, requestId, docUrl, upgrade } = error;
    return defined({
        code,
        message,
        status,
        fault,
        retryable,
        retry_after: retryAfter,
        details: details.length === 0 ? undefined : details,
        did_you_mean: error.didYouMean.length === 0 ? undefined : error.didYouMean,
        upstream: error.upstream,
        upgrade_to: upgrade?.to,
        upgrade_url: upgrade?.url,
        connect_url: error.connectUrl,
        obtain_url: error.obtainUrl,
        request_id: requestId,
        doc_url: docUrl,
    });
}
