import type { App } from '../app.ts';
import { type Plan, planAbove } from '../domain/accounts/plans.ts';
import { counted } from '../domain/text/counted.ts';
import { Refusal } from '../refusals.ts';
import type { Caller } from '../store/accounts/callers.ts';
import type { HoldVerdict, ReachedCap } from '../store/credits/credits.ts';
import type { HoldOrder } from '../store/credits/moves.ts';
import { type Admitted, admitFresh } from './admit.ts';
import { HOLD_GRACE_MS } from './deadlines.ts';
import type { FetchOrder } from './order.ts';

export type Hold = HoldVerdict & { ok: true };

/** Maximum number of look-ups of a site that keeps changing before the hold. */
const MAX_LOOKS = 3;

/**
 * Holds the maximum cost of a call. If the site has changed since its look-up, looks it up again and holds by the new state.
 * @throws Refusal INSUFFICIENT_CREDITS, SPENDING_LIMIT, or a refusal by the changed site
 */
export async function holdCredits(app: App, order: FetchOrder, admitted: Admitted): Promise<{ admitted: Admitted; hold: Hold }> {
    for (let look = 1; ; look++) {
        const hold = await app.credits.hold(holdOrder(order, admitted, { isChecked: look < MAX_LOOKS }));
        if (hold.ok) return { admitted, hold };
        if (hold.reached !== undefined) throw spendingLimit(hold.reached, admitted.price.unit);
        if (hold.isStale !== true) throw insufficientCredits(app, order.caller, admitted.price.unit, hold.available);
        const changed = await admitFresh(app, order);
        if (!changed.ok) throw changed.refusal;
        admitted = changed;
    }
}

/** @param options.isChecked whether the hold is rejected if the site has changed since its look-up */
export function holdOrder(
    { caller, operation, times }: FetchOrder,
    { found, price }: Admitted,
    { isChecked }: { isChecked: boolean },
): HoldOrder {
    const { accountId, userId, workspaceId, keyId, isCapped } = caller;
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
        expiresInMs: times.deadlineAt - Date.now() + HOLD_GRACE_MS,
        siteState: isChecked ? { registrable: found.registrable, revision: found.revision } : undefined,
    };
}

/** 403: credits remain, but a spending cap is reached. @param needed credits of one unit */
function spendingLimit({ of, cap, spent, resetsAt }: ReachedCap, needed: number): Refusal {
    const whose = of === 'key' ? 'This key' : 'This account';
    const words = `${whose} may spend ${counted(cap, 'credit')} a day and has spent ${spent}; this call needs at least ${needed}.`;
    return new Refusal('SPENDING_LIMIT', `${words} The cap resets at ${resetsAt.toISOString()}.`);
}

/** 402 with the next plan and a link to its checkout. @param needed credits of one unit */
export function insufficientCredits(app: App, caller: Caller, needed: number, available: number): Refusal {
    const words = `This call needs at least ${counted(needed, 'credit')}, and ${available} ${available === 1 ? 'is' : 'are'} left.`;
    return new Refusal('INSUFFICIENT_CREDITS', words, upgradeOf(app, caller));
}

/** The next plan of a caller, and a link to its checkout. */
export function upgradeOf(app: App, { plan, workspaceId }: Caller): { upgradeTo: Plan; upgradeUrl: string } {
    const upgradeTo = planAbove(plan);
    return { upgradeTo, upgradeUrl: `${app.publicUrl()}/upgrade?plan=${upgradeTo}&workspace=${workspaceId}` };
}
