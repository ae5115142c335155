import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/call.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import type { AnswerToKeep } from '../../shared/store/credits/credits.ts';
import type { KeyedCall } from '../../shared/store/fetch/idempotency.ts';
import type { AroundBalance } from '../answers/fetch-answer.ts';
import type { Reply } from '../serve.ts';
import type { Admitted } from './admit.ts';
import { LATE_MS, type Times, VERDICT_MS } from './deadlines.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Hold } from './hold.ts';
import { keepResult } from './kept-results.ts';
import { presentFetch } from './present-fetch.ts';
import { recordFetch } from './record-fetch.ts';
import { refusalOf } from './tell-failure.ts';

/** A fetch whose outcome is known and whose credits are still held. */
export interface Run {
    admitted: Admitted;
    hold: Hold;
    job: FetchJob;
    outcome: FetchOutcome;
    times: Times;
}

/**
 * Charges what the answer costs, or gives the hold back; then records the fetch and answers it.
 * @throws Refusal of what went wrong, all of it free
 */
export async function settle(call: FetchCall, { admitted, hold, job, outcome, times }: Run): Promise<Reply<FetchAnswer>> {
    const { span } = call;
    const { found, values } = admitted;
    const { began, admittedAt, deadlineAt } = times;
    const present = (success: FetchOutcome & { ok: true }, charged: number, durationMs = performance.now() - began) =>
        presentFetch({ call, found, outcome: success, charged, admittedAt, durationMs });

    const cost = outcome.ok ? pricing.costOf(found.endpoint, found.siteCredits, outcome, hold.amount) : 0;
    const ending = outcome.ok
        ? await span.during('charge', () => charge(call, job, cost, () => present(outcome, cost)))
        : await span.during('release', () => releaseInTime(call, job, { deadlineAt, available: hold.availableAfter + hold.amount }));
    const durationMs = performance.now() - began;

    if (!outcome.ok || !ending.isBilled) {
        const refusal = refusalOf(call, job, outcome, !ending.isBilled && ending.marked);
        recordFetch(call, { job, found, code: refusal.code, credits: 0, outcome, durationMs });
        throw refusal;
    }
    recordFetch(call, { job, found, code: 'success', credits: ending.charged, outcome, durationMs });
    await keepResult(call, found, values, outcome, ending.charged);
    if (ending.kept !== undefined) return { text: ending.kept, isKept: true };
    const { head, tail } = present(outcome, ending.charged, durationMs);
    return { text: `${head}${ending.available}${tail}`, isKept: false };
}

/** How a call ended: billed, or not, and then whether it had been marked as sent. */
type Ending = { isBilled: true; charged: number; available: number; kept?: string } | { isBilled: false; marked: boolean };

/**
 * Charges, and stores the answer under the call's key in the same statement. Where it is not known whether the charge was recorded, the
 * hold is released; the release tells whether it was.
 */
async function charge(call: FetchCall, job: FetchJob, amount: number, present: () => AroundBalance): Promise<Ending> {
    const { app, operation, keyed } = call;
    try {
        const answer = keyed === undefined ? undefined : await sealAnswer(app, keyed, present());
        const charged = await app.credits.charge({ operation, amount, answer });
        if (charged.ok) return { isBilled: true, ...charged };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'whether a charge was recorded is not known');
    }
    return release(call, job, amount);
}

/** Encrypts before the charge, so that the statement which charges only stores. */
async function sealAnswer({ idempotency }: App, call: KeyedCall, { head, tail }: AroundBalance): Promise<AnswerToKeep> {
    return { call, head, tail, sealed: await idempotency.seal({ headers: {}, head, tail }) };
}

/**
 * Gives the hold back. Of a write that nobody reported it tells whether the worker had marked it as sent: then its outcome is unknown.
 * @param wanted what was to be charged before
 */
async function release(call: FetchCall, { effect }: FetchJob, wanted?: number): Promise<Ending> {
    const { app, operation } = call;
    try {
        const { before, marked, available } = await app.credits.release({ operation });
        call.setCreditsRemaining(available);
        if (before === 'charged' && wanted !== undefined) return { isBilled: true, charged: wanted, available };
        return { isBilled: false, marked };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'a hold could not be released; the sweep will do it');
        return { isBilled: false, marked: effect === 'write' };
    }
}

/**
 * Gives the hold of a failed call back, and waits for that until shortly after the deadline. Where the database is slower, the caller
 * hears that nothing was charged, which is certain, and the release goes on. @param until.available to spend once it is done
 */
async function releaseInTime(call: FetchCall, job: FetchJob, until: { deadlineAt: number; available: number }): Promise<Ending> {
    const timer = new AbortController();
    const ms = Math.max(VERDICT_MS, until.deadlineAt + LATE_MS / 2 - Date.now());
    const late = sleep(ms, undefined, { signal: timer.signal }).then((): Ending => {
        call.setCreditsRemaining(until.available);
        return { isBilled: false, marked: job.effect === 'write' };
    });
    late.catch(() => undefined);
    const ending = await Promise.race([release(call, job), late]);
    timer.abort();
    return ending;
}
