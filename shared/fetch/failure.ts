import type { PartialError } from '../contracts/fetch.ts';
import { isServerError } from '../domain/fetch/circuit-verdict.ts';
import type { FailedPage, FetchFailure, FetchJob, FetchOutcome } from '../domain/fetch/fetch-job.ts';
import { Refusal, type RefusalCode } from '../refusals.ts';

/** Why a call is not billed. @param marked whether the write was marked as sent */
export function failureOfCall(job: FetchJob, outcome: FetchOutcome, marked: boolean): { refusal: Refusal; isFinal: boolean } {
    const isReported = !outcome.ok && outcome.lost === undefined;
    const isFinal = marked && !(isReported && outcome.code === 'DEADLINE_EXCEEDED' && outcome.isUnsent === true);
    if (isReported) return { refusal: toRefusal(outcome, job, isFinal), isFinal };
    return { refusal: new Refusal(marked ? 'OUTCOME_UNKNOWN' : 'DEADLINE_EXCEEDED'), isFinal };
}

const RETRYABLE_READS: readonly RefusalCode[] = ['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_RATE_LIMITED'];

function toRefusal(
    { code, message, details, retryAfter, upstream }: FetchFailure,
    { effect }: Pick<FetchJob, 'effect'>,
    isFinal: boolean,
): Refusal {
    const isFailedServer = code === 'UPSTREAM_STATUS' && isServerError(upstream?.status);
    const isRetryableRead = effect === 'read' && (isFailedServer || RETRYABLE_READS.includes(code));
    const retryable = isFinal ? false : isRetryableRead ? true : undefined;
    return new Refusal(code, message, { details, retryAfter, upstream, retryable });
}

/** `meta.partial_error` for a failed page. Only reads have pages. */
export function partialErrorOf(failed: FailedPage): PartialError {
    const { code, message, isRetryable } = toRefusal({ ok: false, ...failed }, { effect: 'read' }, false);
    return { code, message, retryable: isRetryable, upstream: failed.upstream };
}
