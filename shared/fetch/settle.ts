import type { App } from '../app.ts';
import type { FetchJob, FetchOutcome } from '../domain/fetch/fetch-job.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Span } from '../platform/tracing.ts';
import { within } from '../platform/within.ts';
import type { Refusal } from '../refusals.ts';
import type { AnswerToKeep } from '../store/credits/moves.ts';
import type { KeyedCall } from '../store/fetch/idempotency.ts';
import type { Admitted } from './admit.ts';
import { answerText, type FetchSuccess } from './answer-text.ts';
import { recordUse } from './connection-use.ts';
import { LATE_MS, VERDICT_MS } from './deadlines.ts';
import { failureOfCall } from './failure.ts';
import type { Hold } from './hold.ts';
import type { FetchOrder } from './order.ts';
import { recordFetch } from './record.ts';

/** A fetch whose outcome is known and whose credits are still held. */
interface Run<Outcome extends FetchOutcome = FetchOutcome> {
    admitted: Admitted;
    hold: Hold;
    job: FetchJob;
    outcome: Outcome;
}

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

/** Charges the cost of the outcome, or releases the hold. Then records the fetch. @param call.keyed the key under which the answer is stored */
export async function settle(
    app: App,
    order: FetchOrder,
    { admitted, hold, job, outcome }: Run,
    { span, keyed }: { span: Span; keyed?: KeyedCall },
): Promise<Settled> {
    const ending = outcome.ok
        ? await span.during('charge', () => charge(app, order, { admitted, hold, job, outcome }, keyed))
        : await span.during('release', () => releaseInTime(app, order, job, hold));
    const durationMs = performance.now() - order.times.began;
    await recordUse(app, order, job, outcome);
    const { found } = admitted;
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
async function charge(app: App, order: FetchOrder, run: Run<FetchSuccess>, keyed: KeyedCall | undefined): Promise<Ending> {
    const { admitted, hold, job, outcome } = run;
    const { operation } = job;
    const amount = pricing.costOf(admitted.found.endpoint, admitted.found.siteCredits, outcome, hold.amount);
    try {
        const answer = keyed && (await answerToKeep(app, order, run, { call: keyed, charged: amount }));
        const charged = await app.credits.charge({ operation, amount, answer });
        if (charged.ok) return { isBilled: true, ...charged };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'it is unknown whether a charge was recorded');
    }
    return release(app, job, amount);
}

/** The answer, encrypted before the statement that charges and stores it. */
async function answerToKeep(
    { idempotency }: App,
    order: FetchOrder,
    { admitted, outcome }: Run<FetchSuccess>,
    { call, charged }: { call: KeyedCall; charged: number },
): Promise<AnswerToKeep> {
    const { head, tail } = answerText(order, admitted, { outcome, charged, durationMs: performance.now() - order.times.began });
    return { call, head, tail, sealed: await idempotency.seal({ headers: {}, head, tail }) };
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
