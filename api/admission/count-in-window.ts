import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { RateWindow } from '../../shared/domain/accounts/plans.ts';
import { OWN_WINDOWS } from '../../shared/domain/jobs/bounds.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { callerOf } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';

/**
 * Counts a call in a rate limit that is separate from those of fetches: `jobs` and `batches` for orders, `changes` for what is
 * audited, `reads` for other calls. People are counted separately from the keys of their account, so a stolen key does not stop them.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function countInWindow({ app, caller }: { app: App; caller: Caller }, name: keyof typeof OWN_WINDOWS): Promise<void> {
    const { accountId, userId, keyId } = caller;
    const window = OWN_WINDOWS[name];
    const identity = keyId === '' ? `${name}:user:${userId}` : `${name}:account:${accountId}`;
    const message = `The window ${name} is full: ${window.limit} calls ${window.name === 'hour' ? 'an hour' : 'a minute'} of one account.`;
    await takeFrom({ app, caller }, { name, identity, window, message });
}

/**
 * Counts a call in one window of an identity.
 * @param name the window in the metrics
 * @throws Refusal RATE_LIMITED with this message, SERVICE_UNAVAILABLE
 */
export async function takeFrom(
    { app, caller }: { app: App; caller: Caller | undefined },
    { name, identity, window, message }: { name: string; identity: string; window: RateWindow; message: string },
): Promise<void> {
    const verdict = await app.limits.take({ identity, windows: [window] });
    if (verdict.ok) return;
    app.metrics.rateLimited.inc({ plan: caller?.plan ?? 'anonymous', window: name });
    throw new Refusal('RATE_LIMITED', message, { retryAfter: verdict.retryAfter });
}

/**
 * Counts an order of jobs or a batch that is refused before its handler, which counts all others.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function countRefusedOrder(app: App, request: Request): Promise<void> {
    const window = request.route.settings.app?.contract?.ordersIn;
    const caller = callerOf(request);
    if (window !== undefined && caller !== undefined) await countInWindow({ app, caller }, window);
}

type Respond<Params, Query, Body, Answer> = (call: Call<Params, Query, Body>) => Promise<Reply<Answer>>;

/** Counts the calls of a handler in a window. `changes` is for handlers that may add a row to the audit log of a workspace. */
export function countedIn<Params, Query, Body, Answer>(
    name: keyof typeof OWN_WINDOWS,
    respond: Respond<Params, Query, Body, Answer>,
): Respond<Params, Query, Body, Answer> {
    return async (call) => {
        await countInWindow(call, name);
        return respond(call);
    };
}

export function audited<Params, Query, Body, Answer>(respond: Respond<Params, Query, Body, Answer>) {
    return countedIn('changes', respond);
}
