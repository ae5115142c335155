import type { App } from '../app.ts';
import { UNPAID_DAYS } from '../domain/accounts/subscription.ts';
import { findSubscription, isUnpaidFor, takeDue } from '../store/billing/subscriptions.ts';
import { type Billing, billingOf } from './billing.ts';
import { endPlan, endSubscription, fetchPaidInvoices, settleWorkspace } from './settle.ts';

const AT_ONCE = 20;

/**
 * Reconciles subscriptions with Stripe. It finds invoices whose event was lost, ends plans that have not been paid for seven days after the
 * billing date, and cancels subscriptions at Stripe that we ended. Any process may run it, also concurrently.
 */
export async function reconcileSubscriptions(app: App): Promise<void> {
    const billing = billingOf(app);
    for (const workspaceId of await takeDue(app.db, AT_ONCE)) {
        // Another process continues in a minute.
        if (app.isDraining()) return;
        try {
            await reconcileOne(app, billing, workspaceId);
        } catch (error) {
            app.log.warn(
                { part: 'billing', workspace: workspaceId, err: error },
                'a subscription could not be reconciled; it will be retried',
            );
        }
    }
}

async function reconcileOne(app: App, billing: Billing | undefined, workspaceId: string): Promise<void> {
    const subscription = await findSubscription(app.db, workspaceId);
    if (subscription === undefined) return;
    const { subscriptionId, endedBy } = subscription;
    if (billing !== undefined && endedBy !== null) return settleWorkspace(billing, workspaceId, subscriptionId);
    if (billing !== undefined) await fetchPaidInvoices(billing, subscriptionId);
    if (!(await isUnpaidFor(app.db, workspaceId, UNPAID_DAYS))) return;
    if (billing === undefined) await endPlan(app, workspaceId, subscriptionId, 'unpaid');
    else await endSubscription(billing, workspaceId, subscriptionId, 'unpaid');
}
