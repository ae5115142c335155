import { OPEN_BOUNDS, OPEN_RETRY } from '../../shared/domain/jobs/bounds.ts';
import type { Db } from '../../shared/platform/db.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { readOpen } from '../../shared/store/jobs/orders.ts';

/** Checks that the account's open jobs, including those of this transaction, are within its plan. @throws Refusal RATE_LIMITED */
export async function mustFit(trx: Db, { plan, accountId }: Caller): Promise<void> {
    const open = await readOpen(trx, accountId);
    const most = OPEN_BOUNDS[plan];
    if (open.items <= most.items && open.bytes <= most.bytes) return;
    const bounds = `${most.items.toLocaleString('en')} open jobs with ${Math.round(most.bytes / 1024 / 1024).toLocaleString('en')} MiB of params`;
    throw new Refusal('RATE_LIMITED', `The window open_items is full: ${bounds} an account on ${plan}.`, { retryAfter: OPEN_RETRY });
}
