import { limitHeaders } from '../../shared/coordination/limits/headers.ts';
import type { Lease } from '../../shared/coordination/limits/limits.ts';
import { ANONYMOUS, windowsOf } from '../../shared/domain/accounts/plans.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { OpenCall } from '../call.ts';
import { limitIdentity } from './client-address.ts';
import { fetchShareOf } from './fetch-share.ts';

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

function once(act: () => Promise<void>): () => Promise<void> {
    let done: Promise<void> | undefined;
    return () => {
        done ??= act();
        return done;
    };
}
