import type { HoldVerdict } from '../../shared/store/credits.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { type Admitted, admitAnew } from './admit.ts';
import type { FetchCall } from './fetch-call.ts';
import type { HoldAhead } from './hold-ahead.ts';
import { insufficientCredits } from './insufficient-credits.ts';
import { orderHold } from './order-hold.ts';
import { spendingLimit } from './spending-limit.ts';

/** How often a site may change between a look and the hold. */
const MAX_LOOKS = 3;

/**
 * Puts the greatest possible cost aside, unless the site has changed since it was looked at: then by what it is now.
 * @param ahead what was asked for of this order already
 * @throws Refusal INSUFFICIENT_CREDITS, SPENDING_LIMIT, or what the site as it is now says no to
 */
export async function holdCredits(
    call: FetchCall,
    admitted: Admitted,
    { deadlineAt, ahead }: { deadlineAt: number; ahead: HoldAhead | undefined },
): Promise<{ admitted: Admitted; hold: HoldVerdict & { ok: true } }> {
    const { app } = call;
    const early = await ahead?.take();
    if (early !== undefined) return { admitted, hold: early };
    for (let look = 1; ; look++) {
        const hold = await app.credits.hold(orderHold(call, admitted, { deadlineAt, isChecked: look < MAX_LOOKS }));
        if (hold.ok) return { admitted, hold };
        if (hold.reached !== undefined) throw spendingLimit(hold.reached, admitted.price.unit);
        if (hold.isStale !== true) throw insufficientCredits(app, call.caller as Caller, admitted.price.unit, hold.available);
        const anew = await admitAnew(call);
        if (!('values' in anew)) throw anew.found.refusal;
        admitted = anew;
    }
}
