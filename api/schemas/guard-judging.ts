import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { type JudgingTime, openJudgingTime } from './judging-time.ts';
import { oneAtATime } from './one-at-a-time.ts';

/**
 * Packages that an account may have judged in an hour, dry runs and refused ones among them; of new versions there may be 60. One a
 * second for an hour is more than anybody's editor or pipeline sends, and keeps a loop from judging all day in the process of others.
 */
export const JUDGED_AN_HOUR = 3600;

/**
 * Counts one package of the caller's account, whatever becomes of it; enterprise accounts have no such bound.
 * @throws Refusal RATE_LIMITED
 */
export async function guardJudging(app: App, caller: Caller): Promise<void> {
    if (caller.plan === 'enterprise') return;
    const windows = [{ name: 'hour', limit: JUDGED_AN_HOUR, seconds: 3600 }] as const;
    // Publishing needs no counters, and goes on where they cannot be reached.
    const verdict = await app.limits.take({ identity: `packages:${caller.accountId}`, windows }).catch(() => undefined);
    if (verdict === undefined || verdict.ok) return;
    throw refusal(app, caller, `this account has sent ${JUDGED_AN_HOUR} packages within an hour.`, verdict.retryAfter);
}

const times = new WeakMap<App, JudgingTime>();

/**
 * Judges a package when its turn comes. A made-up one takes up to half a second, so that an account is also held to its share of this
 * process; enterprise accounts are not.
 * @throws Refusal RATE_LIMITED, and whatever `work` throws
 */
export async function judgeInTurn<Verdict>(app: App, caller: Caller, work: () => Verdict): Promise<Verdict> {
    return oneAtATime(() => {
        if (caller.plan === 'enterprise') return work();
        const time = judgingTimeOf(app);
        const began = performance.now();
        const waitMs = time.waitMs(caller.accountId, began);
        if (waitMs > 0) throw refusal(app, caller, 'the packages of this account took too long to judge.', Math.ceil(waitMs / 1000));
        try {
            return work();
        } finally {
            const now = performance.now();
            time.took(caller.accountId, now - began, now);
        }
    });
}

/** What the packages of this process's accounts took to judge. */
export function judgingTimeOf(app: App): JudgingTime {
    const known = times.get(app) ?? openJudgingTime();
    times.set(app, known);
    return known;
}

function refusal(app: App, { plan }: Caller, why: string, retryAfter: number): Refusal {
    app.metrics.rateLimited.inc({ plan, window: 'packages' });
    return new Refusal('RATE_LIMITED', `The window packages is full: ${why}`, { retryAfter });
}
