import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { HoldVerdict } from '../../shared/store/credits.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { Call } from '../serve.ts';
import { type Admitted, admitAnew } from './admit.ts';
import { insufficientCredits } from './insufficient-credits.ts';
import { spendingLimit } from './spending-limit.ts';

/** The worker may report until 200 ms after the deadline; the hold has to stand until then. */
const HOLD_GRACE_MS = 1000;
/** How often a site may change between a look and the hold. */
const MAX_LOOKS = 3;

/**
 * Puts the greatest possible cost aside, unless the site has changed since it was looked at: then by what it is now.
 * @throws Refusal INSUFFICIENT_CREDITS, SPENDING_LIMIT, or what the site as it is now says no to
 */
export async function holdCredits(
    call: Call<object, object, FetchRequest>,
    admitted: Admitted,
    deadlineAt: number,
): Promise<{ admitted: Admitted; hold: HoldVerdict & { ok: true } }> {
    const { app, body } = call;
    for (let look = 1; ; look++) {
        const hold = await app.credits.hold(orderOf(call, admitted, deadlineAt, look < MAX_LOOKS));
        if (hold.ok) return { admitted, hold };
        if (hold.reached !== undefined) throw spendingLimit(hold.reached, admitted.price.unit);
        if (hold.isStale !== true) throw insufficientCredits(app, call.caller as Caller, admitted.price.unit, hold.available);
        const anew = await admitAnew(app, body);
        if (!('values' in anew)) throw anew.found.refusal;
        admitted = anew;
    }
}

function orderOf({ caller, operation }: Call<object, object, FetchRequest>, admitted: Admitted, deadlineAt: number, isChecked: boolean) {
    const { accountId, userId, workspaceId, keyId, isCapped } = caller as Caller;
    const { found, price } = admitted;
    return {
        operation,
        accountId,
        userId,
        workspaceId,
        keyId,
        isCapped,
        site: found.site,
        endpoint: found.endpoint.name,
        versionId: found.versionId,
        effect: found.endpoint.effect,
        unit: price.unit,
        maxUnits: price.maxUnits,
        expiresInMs: deadlineAt - Date.now() + HOLD_GRACE_MS,
        ...(isChecked ? { standing: { registrable: found.registrable, stamp: found.stamp } } : {}),
    };
}
