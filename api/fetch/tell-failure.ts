import type { FetchFailure, FetchJob, FetchOutcome } from '../../shared/domain/fetch/call.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import type { FetchCall } from './fetch-call.ts';

/** Why the call is not billed; what became of a write that was marked as sent stays the answer of its key. */
export function refusalOf(call: FetchCall, job: FetchJob, outcome: FetchOutcome, marked: boolean): Refusal {
    const isReported = !outcome.ok && outcome.lost === undefined;
    const mayBeSent = marked && !(isReported && outcome.code === 'DEADLINE_EXCEEDED' && outcome.isUnsent === true);
    call.setFinal(mayBeSent);
    if (isReported) return toRefusal(outcome, job, mayBeSent);
    return new Refusal(marked ? 'OUTCOME_UNKNOWN' : 'DEADLINE_EXCEEDED');
}

const RETRYABLE_READS: readonly RefusalCode[] = ['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_RATE_LIMITED'];

function toRefusal({ code, message, details, retryAfter, upstream }: FetchFailure, { effect }: FetchJob, marked: boolean): Refusal {
    const isServerError = code === 'UPSTREAM_STATUS' && (upstream?.status ?? 0) >= 500;
    const isRetryableRead = effect === 'read' && (isServerError || RETRYABLE_READS.includes(code));
    return new Refusal(code, message, {
        ...(details === undefined ? {} : { details }),
        ...(retryAfter === undefined ? {} : { retryAfter }),
        ...(upstream === undefined ? {} : { upstream }),
        ...(isRetryableRead ? { retryable: true } : {}),
        ...(marked ? { retryable: false } : {}),
    });
}
