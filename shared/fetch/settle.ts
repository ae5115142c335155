import type { App } from '../app.ts';
import type { PartialError } from '../contracts/fetch.ts';
import { isServerError } from '../domain/fetch/circuit-verdict.ts';
import type { FailedPage, FetchFailure, FetchJob, FetchOutcome } from '../domain/fetch/fetch-job.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Span } from '../platform/tracing.ts';
import { within } from '../platform/within.ts';
import { Refusal, type RefusalCode, refusalEntry } from '../refusals.ts';
import type { AnswerToKeep } from '../store/credits/moves.ts';
import type { Admitted, Found } from './admit.ts';
import { recordUse } from './connection-use.ts';
import { LATE_MS, VERDICT_MS } from './deadlines.ts';
import type { Hold } from './hold.ts';
import type { FetchOrder } from './order.ts';

/** A fetch whose outcome is known and whose credits are still held. */
interface Run {
    admitted: Admitted;
    hold: Hold;
    job: FetchJob;
    outcome: FetchOutcome;
}

export type FetchSuccess = FetchOutcome & { ok: true };

/** How a fetch ended: billed, or failed without a charge. */
export type Settled =
    | {
          ok: true;
          charged: number;
          /** The available credits of the account after the charge. */
          available: number;
          /** The answer that was stored together with the charge. */
          kept?: string | undefined;
          outcome: FetchSuccess;
          /** From the start of the handler until the credits were settled. */
          durationMs: number;
      }
    | {
          ok: false;
          refusal: Refusal;
          /** Absent if the hold could not be released. */
          available?: number | undefined;
          /** A write may have been sent. This refusal then stays the answer for its idempotency key. */
          isFinal: boolean;
      };

/** How a hold ended. Either it was charged, or it was released; `marked` then tells whether the write had been marked as sent. */
type Ending =
    | { isBilled: true; charged: number; available: number; kept?: string }
    | { isBilled: false; marked: boolean; available?: number };

/**
 * Charges the cost of the outcome, or releases the hold. Then records the fetch.
 * @param keep creates the answer that is stored together with the charge, from the credits charged; absent: no answer is stored
 */
export async function settle(
    app: App,
    order: FetchOrder,
    { admitted: { found }, hold, job, outcome }: Run,
    { span, keep }: { span: Span; keep?: ((charged: number) => Promise<AnswerToKeep>) | undefined },
): Promise<Settled> {
    const ending = outcome.ok
        ? await span.during('charge', () => charge(app, job, pricing.costOf(found.endpoint, found.siteCredits, outcome, hold.amount), keep))
        : await span.during('release', () => releaseInTime(app, order, job, hold));
    const durationMs = performance.now() - order.times.began;
    await recordUse(app, order, job, outcome);
    if (outcome.ok && ending.isBilled) {
        recordFetch(app, order, { found, code: 'success', credits: ending.charged, outcome, durationMs });
        const { charged, available, kept } = ending;
        return { ok: true, charged, available, kept, outcome, durationMs };
    }
    const failure = failureOfCall(job, outcome, !ending.isBilled && ending.marked);
    recordFetch(app, order, { found, code: failure.refusal.code, credits: 0, outcome, durationMs });
    return { ok: false, ...failure, available: ending.available };
}

/**
 * Charges, and stores the answer in the same statement. If it is unknown whether the charge was recorded, releases the hold. The result of
 * the release shows whether the charge was recorded.
 */
async function charge(
    app: App,
    job: FetchJob,
    amount: number,
    keep: ((charged: number) => Promise<AnswerToKeep>) | undefined,
): Promise<Ending> {
    const { operation } = job;
    try {
        const charged = await app.credits.charge({ operation, amount, answer: await keep?.(amount) });
        if (charged.ok) return { isBilled: true, ...charged };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'it is unknown whether a charge was recorded');
    }
    return release(app, job, amount);
}

/**
 * Releases the hold. For a write without a report, the result says whether the worker had marked it as sent. If so, the outcome of the
 * write is unknown.
 * @param wanted the amount of an earlier attempt to charge
 */
async function release(app: App, { operation, effect }: FetchJob, wanted?: number): Promise<Ending> {
    try {
        const { before, marked, available } = await app.credits.release({ operation });
        if (before === 'charged' && wanted !== undefined) return { isBilled: true, charged: wanted, available };
        return { isBilled: false, marked, available };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'a hold could not be released; the sweep will do it');
        return { isBilled: false, marked: effect === 'write' };
    }
}

/**
 * Releases the hold of a failed call, and waits for the release until shortly after the deadline. If the database takes longer, the caller
 * learns that nothing was charged, which is certain, and the release continues in the background.
 */
function releaseInTime(app: App, { times }: FetchOrder, job: FetchJob, hold: Hold): Promise<Ending> {
    const ms = Math.max(VERDICT_MS, times.deadlineAt + LATE_MS / 2 - Date.now());
    const available = hold.availableAfter + hold.amount;
    return within(ms, release(app, job), () => ({ isBilled: false, marked: job.effect === 'write', available }));
}

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
    const { code, message, extras } = toRefusal({ ok: false, ...failed }, { effect: 'read' }, false);
    const retryable = extras.retryable ?? refusalEntry(code).retryable === true;
    return { code, message, retryable, upstream: failed.upstream };
}

/** Writes the request log and the metrics of a fetch that was sent. The log is written within a second, off the hot path. */
export function recordFetch(
    { metrics, usage }: App,
    order: FetchOrder,
    done: { found: Found; code: 'success' | RefusalCode; credits: number; outcome: FetchOutcome; durationMs: number },
): void {
    const { found, code, credits, outcome, durationMs } = done;
    const site = metrics.siteLabel(found.site);
    const queueMs = outcome.startedAt === undefined ? undefined : Math.max(0, outcome.startedAt - order.times.admittedAt);
    metrics.fetches.inc({ site, outcome: code });
    metrics.fetchSeconds.observe(durationMs / 1000);
    if (queueMs !== undefined) metrics.fetchQueueSeconds.observe(queueMs / 1000);
    if (credits > 0) metrics.creditsCharged.inc({ site }, credits);
    usage.record({
        ...usageFields(order, found),
        outcome: code,
        credits,
        durationMs,
        queueMs,
        ...(outcome.ok
            ? {
                  results: outcome.results,
                  upstream: outcome.upstream,
                  failedPage: outcome.failedPage?.code,
                  isCallers: outcome.failedPage?.isCallers === true,
              }
            : { isCallers: outcome.isCallers === true }),
    });
}

/** Like `recordFetch`, for a fetch that was answered from a stored result. */
export function recordStored({ metrics, usage }: App, order: FetchOrder, found: Found, results: number): void {
    const durationMs = performance.now() - order.times.began;
    metrics.fetches.inc({ site: metrics.siteLabel(found.site), outcome: 'success' });
    metrics.fetchSeconds.observe(durationMs / 1000);
    usage.record({ ...usageFields(order, found), outcome: 'success', credits: 0, results, cached: true, durationMs });
}

function usageFields({ caller, operation, requestId, sessionId }: FetchOrder, found: Found) {
    return {
        kind: 'fetch' as const,
        operation,
        requestId,
        accountId: caller.accountId,
        workspaceId: caller.workspaceId,
        userId: caller.userId,
        keyId: caller.keyId,
        sessionId,
        site: found.site,
        registrable: found.registrable,
        endpoint: found.endpoint.name,
        version: found.version,
    };
}
