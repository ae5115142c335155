import type { App } from '../../../shared/app.ts';
import { billingOf } from '../../../shared/billing/billing.ts';
import { closeCheckout } from '../../../shared/billing/checkout.ts';
import { endSubscription } from '../../../shared/billing/settle.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { setPlan } from '../../../shared/store/accounts/accounts.ts';
import type { LeftWorkspace } from '../../../shared/store/accounts/delete-account.ts';
import { findSubscription, isBilled } from '../../../shared/store/billing/subscriptions.ts';

/**
 * Ends the subscriptions of workspaces without other members, so that nobody pays for an unusable workspace. Workspaces with other members
 * keep theirs. Rejects if a subscription could not be ended; then nothing is deleted.
 */
export async function endSubscriptions(app: App, workspaces: readonly LeftWorkspace[]): Promise<void> {
    const billing = billingOf(app);
    for (const { workspaceId, plan, members } of workspaces) {
        if (members !== 1) continue;
        // Otherwise an open checkout in another tab could be paid after this.
        if (billing !== undefined) await closeCheckout(billing, workspaceId);
        const subscription = await findSubscription(app.db, workspaceId);
        if (subscription !== undefined && isBilled(subscription)) {
            if (billing === undefined)
                throw new Refusal('SERVICE_UNAVAILABLE', 'Your subscription cannot be ended from here now; ask the operator.');
            await endSubscription(billing, workspaceId, subscription.subscriptionId, 'deletion');
        }
        if (plan !== 'free') await setPlan(app.db, workspaceId, 'free', {});
    }
}
