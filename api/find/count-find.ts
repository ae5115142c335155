import { FINDS } from '../../shared/domain/accounts/plans.ts';
import { Refusal } from '../../shared/refusals.ts';
import { limitIdentity } from '../admission/client-address.ts';
import type { Call } from '../serve.ts';

/**
 * Counts a question in the window `find` of its account, or without a key of its address. While the counters are out of reach nothing is
 * counted: browsing goes on.
 * @throws Refusal RATE_LIMITED
 */
export async function countFind({ app, caller, clientAddress }: Call<unknown, unknown, unknown>): Promise<void> {
    const identity = `find:${caller === undefined ? `ip:${limitIdentity(clientAddress)}` : `account:${caller.accountId}`}`;
    const verdict = await app.limits.take({ identity, windows: [FINDS] }).catch(() => undefined);
    if (verdict === undefined || verdict.ok) return;
    app.metrics.rateLimited.inc({ plan: caller?.plan ?? 'anonymous', window: 'find' });
    const message = `The window find is full: ${FINDS.limit} questions a minute ${caller === undefined ? 'from one address' : 'of one account'}.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfter: verdict.retryAfter });
}
