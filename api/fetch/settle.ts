import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import type { FetchJob } from '../../shared/domain/fetch.ts';
import type { AnswerToKeep } from '../../shared/store/credits.ts';
import type { KeyedCall } from '../../shared/store/idempotency.ts';
import type { AroundBalance } from '../fetch-answer.ts';
import type { FetchCall } from './fetch-call.ts';

/** So late after its deadline a caller may be answered (GOALS R1): a charge that takes longer takes it from the site's time. */
const LATE_MS = 250;
/** So long a verdict may take at least: what became of a write hangs on it, and usually it takes a few milliseconds. */
const VERDICT_MS = 300;

/** How a call ended: billed, or not, and then whether it had been marked as sent. */
export type Ending = { isBilled: true; charged: number; available: number; kept?: string } | { isBilled: false; marked: boolean };

/**
 * The charge, and with it the answer under the call's key. Where it could not be recorded the hold is released instead: then the
 * call is not billed, and its outcome not delivered. The release also tells where it was recorded after all: what is billed is delivered.
 */
export async function charge(call: FetchCall, job: FetchJob, amount: number, present: () => AroundBalance): Promise<Ending> {
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

/** Encrypted before the charge, so that the statement which charges only stores it. */
async function sealAnswer({ idempotency }: App, call: KeyedCall, { head, tail }: AroundBalance): Promise<AnswerToKeep> {
    return { call, head, tail, sealed: await idempotency.seal({ headers: {}, head, tail }) };
}

/**
 * Gives the hold back. The release is also the verdict about a write that nobody reported: where the worker had marked it as
 * sent before, its outcome is not known. @param wanted what we tried to charge before
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
 * Gives the hold of a failed call back, and waits for that until shortly after the deadline: where the database is slow the caller hears
 * what is certain, that nothing was charged, and the release goes on without it. @param available to spend once it is done
 */
export async function releaseInTime(call: FetchCall, job: FetchJob, until: { deadlineAt: number; available: number }): Promise<Ending> {
    const patience = new AbortController();
    const ms = Math.max(VERDICT_MS, until.deadlineAt + LATE_MS / 2 - Date.now());
    const late = sleep(ms, undefined, { signal: patience.signal }).then((): Ending => {
        call.setCreditsRemaining(until.available);
        return { isBilled: false, marked: job.effect === 'write' };
    });
    late.catch(() => undefined);
    const ending = await Promise.race([release(call, job), late]);
    patience.abort();
    return ending;
}

/** What of the time that is left has to be kept for the charge; half of it at the most. */
export function chargeTime(app: App, deadlineAt: number): number {
    return Math.round(Math.max(0, Math.min(app.credits.settlingMs() - LATE_MS, (deadlineAt - Date.now()) / 2)));
}
