import { OWN_WINDOWS } from '../../shared/domain/jobs/bounds.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { Call } from '../call.ts';

/**
 * Counts a call in a rate limit that is separate from those of fetches: `jobs` and `batches` for orders, `reads` for other calls.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function countInWindow({ app, caller }: Call<unknown, unknown, unknown>, name: keyof typeof OWN_WINDOWS): Promise<void> {
    const { accountId, plan } = caller as Caller;
    const window = OWN_WINDOWS[name];
    const verdict = await app.limits.take({ identity: `${name}:account:${accountId}`, windows: [window] });
    if (verdict.ok) return;
    app.metrics.rateLimited.inc({ plan, window: name });
    const message = `The window ${name} is full: ${window.limit} calls ${name === 'batches' ? 'an hour' : 'a minute'} of one account.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: verdict.retryAfter });
}
