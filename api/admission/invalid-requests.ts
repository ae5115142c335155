import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { limitHeaders } from '../../shared/coordination/limits/headers.ts';
import { windowsOf } from '../../shared/domain/accounts/plans.ts';
import { growingCache } from '../../shared/platform/growing-cache.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { callerOf } from '../auth/caller.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Maximum number of calls of one account per minute that may be answered with 400. Other rate limits do not count these calls. */
export const INVALID_A_MINUTE = 600;

const WINDOWS = [{ name: 'minute', limit: INVALID_A_MINUTE, seconds: 60 }] as const;
const REMEMBERED = 10_000;

/**
 * The rate limit `invalid` of the counted routes. A 400 counts when it is sent. An account that has reached the limit is refused after its
 * key is checked and before its body is read. Other calls do not query the counters: each process remembers which accounts have reached the
 * limit, and notices limits that other processes have filled at its own next 400. Enterprise accounts have no such limit.
 */
export const invalidRequests: AppPlugin = {
    name: 'invalid-requests',
    register(server, { app }) {
        /** The end of the window, by account. */
        const full = growingCache<string, number>(REMEMBERED);
        // Not the clock of the machine, which may jump back by an hour.
        const now = () => performance.now() + app.clock.offsetMs;

        server.ext(
            'onCredentials',
            async (request, h) => {
                const caller = countedCaller(request);
                const leftMs = caller === undefined ? 0 : (full.get(caller.accountId) ?? 0) - now();
                if (caller !== undefined && leftMs > 0) await refuse(app, request, caller, Math.ceil(leftMs / 1000));
                return h.continue;
            },
            { after: 'api-key' },
        );

        server.ext(
            'onPreResponse',
            async (request, h) => {
                const caller = countedCaller(request);
                const { response } = request;
                const isInvalid = 'isBoom' in response ? response.output.statusCode === 400 : response.statusCode === 400;
                if (caller === undefined || !isInvalid) return h.continue;
                // If the counters are unavailable, the 400 stays a 400.
                const verdict = await app.limits.take({ identity: `invalid:${caller.accountId}`, windows: WINDOWS }).catch(() => undefined);
                const [window] = verdict?.windows ?? [];
                if (window?.remaining === 0) full.set(caller.accountId, now() + window.resetsIn * 1000);
                return h.continue;
            },
            { after: 'refusals' },
        );
    },
};

/** The account whose window counts a call on a counted route. */
function countedCaller(request: Request): Caller | undefined {
    const caller = callerOf(request);
    const isCounted = request.route.settings.app?.contract?.counted === true;
    return isCounted && caller !== undefined && caller.plan !== 'enterprise' ? caller : undefined;
}

/** @throws Refusal RATE_LIMITED, with the remaining calls in the account's rate limits */
async function refuse(app: App, request: Request, { accountId, figures, plan }: Caller, retryAfter: number): Promise<never> {
    app.metrics.rateLimited.inc({ plan, window: 'invalid' });
    const { windows } = await app.limits.peek(`account:${accountId}`, windowsOf(figures), accountId);
    Object.assign(request.app.notes.headers, limitHeaders(windows));
    const words = `The window invalid is full: ${INVALID_A_MINUTE} calls of this account were answered with 400 within a minute.`;
    throw new Refusal('RATE_LIMITED', words, { retryAfter });
}
