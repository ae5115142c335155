import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { limitHeaders } from '../../shared/coordination/limits/headers.ts';
import type { Lease } from '../../shared/coordination/limits/limits.ts';
import { ANONYMOUS, type RateWindow, windowsOf } from '../../shared/domain/accounts/plans.ts';
import { OWN_WINDOWS, type OwnWindow } from '../../shared/domain/jobs/bounds.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import { once } from '../../shared/platform/once.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { callerOf } from '../auth/caller.ts';
import type { OpenCall } from '../call.ts';
import { limitIdentity } from './client-address.ts';
import { fetchShareOf } from './event-loop-turns.ts';

/**
 * Counts one call in all rate limits of its identity, and takes the leases of a fetch, in one atomic step. Adds the rate-limit headers to
 * the answer, also to a refusal.
 * @returns `end` ends the lease; the call still counts in the rate limits
 * @throws Refusal RATE_LIMITED, CONCURRENCY_LIMITED, SITE_BUSY, OVERLOADED (nothing was taken), SERVICE_UNAVAILABLE.
 */
export async function countCall(call: OpenCall<unknown, unknown, unknown>, lease?: Lease): Promise<{ end(): Promise<void> }> {
    const { app, caller } = call;
    const windows = caller === undefined ? [ANONYMOUS] : windowsOf(caller.figures);
    const identity = caller === undefined ? `ip:${limitIdentity(call.clientAddress)}` : `account:${caller.accountId}`;
    const verdict = await app.limits.take({ identity, windows, lease });
    Object.assign(call.notes.headers, limitHeaders(verdict.windows));
    if (verdict.ok) {
        if (lease === undefined) return { end: async () => {} };
        fetchShareOf(app).noteFetch();
        return { end: once(() => app.limits.end(lease)) };
    }
    const plan = caller?.plan ?? 'anonymous';
    const { retryAfter } = verdict;
    if (verdict.reason === 'window') {
        app.metrics.rateLimited.inc({ plan, window: verdict.window });
        const { limit } = verdict.windows.find((window) => window.name === verdict.window) ?? { limit: 0 };
        const more = caller === undefined ? ` A free API key allows more: ${app.publicUrl()}/signup` : '';
        throw new Refusal('RATE_LIMITED', `The limit of ${counted(limit, 'call')} per ${verdict.window} is used up.${more}`, {
            retryAfter,
        });
    }
    app.metrics.rateLimited.inc({ plan, window: verdict.reason });
    if (verdict.reason === 'share') throw new Refusal('SITE_BUSY', undefined, { retryAfter });
    if (verdict.reason === 'free') {
        const message = 'Most slots for accounts on Free are in use. Try again, with one fetch at a time.';
        throw new Refusal('OVERLOADED', message, { retryAfter });
    }
    const message = `Too many fetches of this account are in flight: it may have ${lease?.concurrency} at a time.`;
    throw new Refusal('CONCURRENCY_LIMITED', message, { retryAfter });
}

/**
 * Counts a call in a rate limit that is separate from those of fetches: `jobs` and `batches` for new ones, `changes` for audited calls,
 * `reads` for other calls. People are counted separately from the keys of their account, so a stolen key does not stop them.
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
