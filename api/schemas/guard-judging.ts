import type { App } from '../../shared/app.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';

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
    app.metrics.rateLimited.inc({ plan: caller.plan, window: 'packages' });
    throw new Refusal('RATE_LIMITED', `The window packages is full: this account has sent ${JUDGED_AN_HOUR} packages within an hour.`, {
        retryAfter: verdict.retryAfter,
    });
}
