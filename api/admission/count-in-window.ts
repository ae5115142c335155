import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { RateWindow } from '../../shared/domain/accounts/plans.ts';
import { OWN_WINDOWS, type OwnWindow } from '../../shared/domain/jobs/bounds.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { callerOf } from '../auth/caller.ts';

/**
 * Counts a call in a rate limit that is separate from those of fetches: `jobs` and `batches` for orders, `changes` for what is
 * audited, `reads` for other calls. People are counted separately from the keys of their account, so a stolen key does not stop them.
 * Calls without a key are not counted.
 * @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function countInWindow({ app, caller }: { app: App; caller: Caller | undefined }, name: OwnWindow): Promise<void> {
    if (caller === undefined) return;
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

/** Counts a call that is refused before its handler, if its route counts those too. @throws Refusal RATE_LIMITED, SERVICE_UNAVAILABLE */
export async function countRefused(app: App, request: Request): Promise<void> {
    const { window, countsRefused } = request.route.settings.app?.contract ?? {};
    if (window !== undefined && countsRefused) await countInWindow({ app, caller: callerOf(request) }, window);
}
