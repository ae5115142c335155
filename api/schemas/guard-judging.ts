import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import { SideThreadFailure } from '../../shared/side-thread.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { JudgedPackage } from '../package-tasks.ts';
import { workOnPackage } from '../package-work.ts';
import { type JudgingTime, openJudgingTime } from './judging-time.ts';

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
 * Has a package judged beside the event loop. A made-up one takes up to half a second, so that an account is also held to its share of
 * a thread; enterprise accounts are not.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function judgeInTurn(app: App, caller: Caller, bytes: Buffer): Promise<JudgedPackage> {
    const time = judgingTimeOf(app);
    const began = performance.now();
    const waitMs = caller.plan === 'enterprise' ? 0 : time.waitMs(caller.accountId, began);
    if (waitMs > 0) throw refusal(app, caller, 'the packages of this account took too long to judge.', Math.ceil(waitMs / 1000));
    try {
        const { answer, ms } = await workOnPackage('judge', caller.accountId, { bytes, allowed: app.config.egressAllow });
        if (caller.plan !== 'enterprise') time.took(caller.accountId, ms, performance.now());
        return answer;
    } catch (cause) {
        if (!(cause instanceof SideThreadFailure)) throw cause;
        if (caller.plan !== 'enterprise') time.took(caller.accountId, performance.now() - began, performance.now());
        throw new Refusal('SERVICE_UNAVAILABLE', 'The package could not be judged in time.', { retryAfter: 10 }, { cause });
    }
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
