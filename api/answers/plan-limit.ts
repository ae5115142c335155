import type { App } from '../../shared/app.ts';
import { upgradeOf } from '../../shared/fetch/hold.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';

/** PLAN_LIMIT with the next plan and a link to its checkout. */
export function planLimit(app: App, caller: Caller, message: string): Refusal {
    return new Refusal('PLAN_LIMIT', message, upgradeOf(app, caller));
}
