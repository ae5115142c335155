import type { App } from '../../shared/app.ts';
import { planAbove } from '../../shared/domain/plans.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';

/** 402 with the way up: the next plan, and a link that leads to its checkout. @param needed credits of one unit */
export function insufficientCredits(app: App, caller: Caller, needed: number, available: number): Refusal {
    const upgradeTo = planAbove(caller.plan);
    return new Refusal('INSUFFICIENT_CREDITS', `This call needs at least ${needed} credits, and ${available} are left.`, {
        upgradeTo,
        upgradeUrl: `${app.publicUrl()}/upgrade?plan=${upgradeTo}`,
    });
}
