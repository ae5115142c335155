import type { App } from '../../shared/app.ts';
import { defined } from '../../shared/domain/defined.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { MAX_RESULT_BYTES } from '../../shared/domain/jobs/bounds.ts';
import { nextStep } from '../../shared/domain/jobs/next-step.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import type { Admitted } from '../../shared/fetch/admit.ts';
import { answerText, asResult } from '../../shared/fetch/answer-text.ts';
import { recordUse } from '../../shared/fetch/connection-use.ts';
import { failureOfCall } from '../../shared/fetch/failure.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { recordFetch } from '../../shared/fetch/record.ts';
import { keepResult, resultKeyOf } from '../../shared/fetch/stored-results.ts';
import type { Refusal } from '../../shared/refusals.ts';
import type { ClaimedJob } from '../../shared/store/jobs/claims.ts';
import type { Held } from '../../shared/store/jobs/holds.ts';
import { sealError, sealResult } from '../../shared/store/jobs/sealed.ts';
import type { AttemptEnd, HoldEnd } from '../../shared/store/jobs/write-ends.ts';
import type { Attempts } from './slice.ts';

/** Fails a job whose result is too large to store. */
export function boundOutcome(outcome: FetchOutcome): FetchOutcome {
    if (!outcome.ok || Buffer.byteLength(outcome.text) <= MAX_RESULT_BYTES) return outcome;
    const { startedAt, ranMs, hosts } = outcome;
    return defined<Extract<FetchOutcome, { ok: false }>>({ ok: false, code: 'UPSTREAM_TOO_LARGE', startedAt, ranMs, hosts });
}

export interface Sent {
    admitted: Admitted;
    hold: Held;
    fetchJob: FetchJob;
    outcome: FetchOutcome;
}

/** Writes charge and result, or release and failure, in one transaction. */
export async function settleJob(
    { app, attempts }: { app: App; attempts: Attempts },
    job: ClaimedJob,
    order: FetchOrder,
    { admitted, hold, fetchJob, outcome }: Sent,
): Promise<void> {
    const { found } = admitted;
    const durationMs = performance.now() - order.times.began;
    const cost = outcome.ok ? pricing.costOf(found.endpoint, found.siteCredits, outcome, hold.amount) : null;
    const result =
        outcome.ok && cost !== null
            ? await sealResult(app.secrets, asResult(answerText(order, admitted, { outcome, charged: cost, durationMs })))
            : undefined;
    const question = resultKeyOf(order, admitted);
    const decide = async (ended: HoldEnd): Promise<AttemptEnd> => {
        if (result !== undefined && ended.won) return { status: 'succeeded', result, question };
        return toFailedEnd(app, job, fetchJob, outcome.ok ? { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'deadline' } : outcome, ended);
    };
    await recordUse(app, order, fetchJob, outcome);
    const settled = await attempts.end({ ...idOf(job), charge: cost, bytes: result?.length ?? 0, decide });
    // The job was cancelled or taken back meanwhile, or an earlier try already settled it. Nothing changes.
    if (settled === undefined) return;
    const { end, hold: ended } = settled;
    if (end.status === 'cancelled') return;
    const code = end.status === 'succeeded' ? 'success' : (end.code as Refusal['code']);
    recordFetch(app, order, { found, code, credits: ended.charged, outcome, durationMs });
    if (outcome.ok && end.status === 'succeeded') {
        await keepResult(app, order, admitted, { ok: true, outcome, charged: ended.charged, available: ended.available, durationMs });
    }
}

async function toFailedEnd(app: App, job: ClaimedJob, fetchJob: FetchJob, outcome: FetchOutcome, { marked }: HoldEnd): Promise<AttemptEnd> {
    const { refusal, isFinal } = failureOfCall(fetchJob, outcome, marked);
    const step = nextStep({ ...factsOf(refusal), effect: fetchJob.effect, isFinal, failures: job.attempts - job.deaths }, Math.random());
    const failure = { code: refusal.code, error: await sealRefusal(app, refusal) };
    if (step.step === 'end') return { status: 'failed', ...failure };
    return { status: 'queued', ...failure, afterMs: step.afterMs, isUntried: step.step === 'wait' };
}

/** What decides whether a call is tried again. */
export function factsOf({ code, isRetryable, extras }: Refusal): { code: string; retryable: boolean; retryAfter?: number | undefined } {
    return { code, retryable: isRetryable, retryAfter: extras.retryAfter };
}

export async function sealRefusal({ secrets }: App, { message, extras }: Refusal): Promise<Buffer> {
    const { details, retryAfter, upstream, didYouMean, retryable } = extras;
    return sealError(secrets, defined({ message, details, retryAfter, upstream, didYouMean, retryable }));
}

export function idOf({ jobId, operation, batchId }: ClaimedJob): Pick<ClaimedJob, 'jobId' | 'operation' | 'batchId'> {
    return { jobId, operation, batchId };
}
