import { OWN_WINDOWS } from '../../shared/domain/jobs/bounds.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { Call, Reply } from '../call.ts';

/**
 * Counts a call in a rate limit that is separate from those of fetches: `jobs` and `batches` for orders, `changes` for what is
 * audited, `reads` for other calls. People are counted separately from the keys of their account, so a stolen key does not stop them.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function countInWindow({ app, caller }: Call<unknown, unknown, unknown>, name: keyof typeof OWN_WINDOWS): Promise<void> {
    const { accountId, userId, keyId, plan } = caller as Caller;
    const window = OWN_WINDOWS[name];
    const identity = keyId === '' ? `${name}:user:${userId}` : `${name}:account:${accountId}`;
    const verdict = await app.limits.take({ identity, windows: [window] });
    if (verdict.ok) return;
    app.metrics.rateLimited.inc({ plan, window: name });
    const message = `The window ${name} is full: ${window.limit} calls ${window.name === 'hour' ? 'an hour' : 'a minute'} of one account.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: verdict.retryAfter });
}

/** A handler each of whose calls may add a row to the audit log of a workspace. */
export function audited<Params, Query, Body, Answer>(respond: (call: Call<Params, Query, Body>) => Promise<Reply<Answer>>) {
    return async (call: Call<Params, Query, Body>): Promise<Reply<Answer>> => {
        await countInWindow(call, 'changes');
        return respond(call);
    };
}
