import type { App } from '../../shared/app.ts';
import { planAbove } from '../../shared/domain/accounts/plans.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';

/** PLAN_LIMIT with the next plan and a link to its checkout. */
export function planLimit(app: App, { plan, workspaceId }: Caller, message: string): Refusal {
    const upgradeTo = planAbove(plan);
    return new Refusal('PLAN_LIMIT', message, {
        upgradeTo,
        upgradeUrl: `${app.publicUrl()}/upgrade?plan=${upgradeTo}&workspace=${workspaceId}`,
    });
}
