import { FINDS } from '../../shared/domain/accounts/plans.ts';
import { Refusal } from '../../shared/refusals.ts';
import { limitIdentity } from '../admission/client-address.ts';
import type { Call } from '../call.ts';

/**
 * Counts a search in the `find` window of its account, or of its address without a key. If the counters are unreachable, the search is
 * not counted.
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
