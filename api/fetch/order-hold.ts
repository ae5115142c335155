import type { HoldOrder } from '../../shared/store/credits.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { Admitted } from './admit.ts';
import type { FetchCall } from './fetch-call.ts';

/** The worker may report until 200 ms after the deadline; the hold has to stand until then. */
const HOLD_GRACE_MS = 1000;

/** What a call may cost at the most, and who pays. @param order.isChecked nothing is held where the site has changed since it was looked at */
export function orderHold(
    { caller, operation }: FetchCall,
    { found, price }: Admitted,
    { deadlineAt, isChecked }: { deadlineAt: number; isChecked: boolean },
): HoldOrder {
    const { accountId, userId, workspaceId, keyId, isCapped } = caller as Caller;
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
