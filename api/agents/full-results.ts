import { hash } from 'node:crypto';
import type { FullResults } from '../../shared/agents/full-results.ts';
import type { App } from '../../shared/app.ts';
import { randomBase62 } from '../../shared/domain/text/ids.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { findResult, keepResult, MAX_AGE_SECONDS, MAX_KEPT_BYTES } from '../../shared/store/fetch/results.ts';

/** Stores the full text of cut results among the results for `max_age`: per account, within the same limits. */
export function fullResultsOf({ db, secrets }: App, { accountId }: Caller): FullResults {
    const placeOf = (id: string) => ({ accountId, question: hash('sha256', `rest of an agent's result ${id}`) });
    return {
        async keep(text) {
            if (Buffer.byteLength(text) > MAX_KEPT_BYTES) return undefined;
            const id = randomBase62(22);
            // Without the stored text the agent still has the cut result.
            return keepResult(db, secrets, placeOf(id), { text, results: 0 }).then(
                () => id,
                () => undefined,
            );
        },
        read: async (id) => (await findResult(db, secrets, placeOf(id), MAX_AGE_SECONDS))?.text,
    };
}
