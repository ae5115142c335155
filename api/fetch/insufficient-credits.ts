import type { App } from '../../shared/app.ts';
import { counted } from '../../shared/domain/counted.ts';
import { planAbove } from '../../shared/domain/plans.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';

/** 402 with the way up: the next plan, and a link that leads to its checkout. @param needed credits of one unit */
export function insufficientCredits(app: App, caller: Caller, needed: number, available: number): Refusal {
    const upgradeTo = planAbove(caller.plan);
    const words = `This call needs at least ${counted(needed, 'credit')}, and ${available} ${available === 1 ? 'is' : 'are'} left.`;
    return new Refusal('INSUFFICIENT_CREDITS', words, {
        upgradeTo,
        upgradeUrl: `${app.publicUrl()}/upgrade?plan=${upgradeTo}&workspace=${caller.workspaceId}`,
    });
}
