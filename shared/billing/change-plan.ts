import type { Stripe } from 'stripe';
import type { Plan } from '../domain/accounts/plans.ts';
import { changeTo, type SoldPlan } from '../domain/accounts/subscription.ts';
import type { Subscription } from '../store/billing/subscriptions.ts';
import { type Billing, priceOf } from './billing.ts';
import { idOf } from './read-stripe.ts';
import { fetchPaidInvoices, settleWorkspace } from './settle.ts';

/** The price of an upgrade today, in cents: the new month minus the unused rest of the current one. */
interface Due {
    amountCents: number;
    currency: string;
}

type Changed =
    | { ok: true }
    /** The bank requires a confirmation or refused the payment. Nothing changes until this invoice is paid. It expires after a day. */
    | { ok: false; payAt: string | undefined };

/** Asks Stripe for the price of an upgrade now. */
export async function previewUpgrade({ ask, settings }: Billing, subscription: Subscription, plan: SoldPlan): Promise<Due> {
    const { subscriptionId, itemId, customerId } = subscription;
    const preview = await ask((stripe) =>
        stripe.invoices.createPreview({
            customer: customerId,
            subscription: subscriptionId,
            subscription_details: {
                items: [{ id: itemId, price: priceOf(settings, plan) }],
                billing_cycle_anchor: { type: 'now' },
                proration_behavior: 'always_invoice',
            },
        }),
    );
    return { amountCents: preview.amount_due, currency: preview.currency };
}

/**
 * Changes the subscription. An upgrade starts a new month at once, if it can be paid. A downgrade, also to Free, starts when the paid month
 * ends. Until then, choosing the current plan cancels the downgrade.
 * @param current the plan of the last paid period
 */
export async function changeSubscription(billing: Billing, subscription: Subscription, current: Plan, wanted: Plan): Promise<Changed> {
    const { ask, settings } = billing;
    const { workspaceId, subscriptionId, itemId } = subscription;
    const change = changeTo(current, wanted);
    if (change === 'upgrade now' && wanted !== 'free' && wanted !== 'enterprise') return upgrade(billing, subscription, wanted);
    if (change === 'end at period end') {
        await ask((stripe) => stripe.subscriptions.update(subscriptionId, { cancel_at_period_end: true }));
    } else if (wanted === 'starter' || wanted === 'pro') {
        await resume(billing, subscription);
        const price = priceOf(settings, wanted);
        await ask((stripe) => stripe.subscriptions.update(subscriptionId, { items: [{ id: itemId, price }], proration_behavior: 'none' }));
    }
    await settleWorkspace(billing, workspaceId, subscriptionId);
    return { ok: true };
}

async function upgrade(billing: Billing, subscription: Subscription, plan: SoldPlan): Promise<Changed> {
    const { ask, settings } = billing;
    const { subscriptionId, itemId, status } = subscription;
    // Open invoices must be paid first.
    if (status !== 'active' && status !== 'trialing') return { ok: false, payAt: undefined };
    await resume(billing, subscription);
    const before = await ask((stripe) => stripe.subscriptions.retrieve(subscriptionId, { expand: ['latest_invoice'] }));
    if (before.pending_update !== null) return { ok: false, payAt: placeToPay(before) };
    const isDone = before.items.data.some(({ price }) => price.id === priceOf(settings, plan));
    const updated = isDone
        ? before
        : await ask((stripe) =>
              stripe.subscriptions.update(
                  subscriptionId,
                  {
                      items: [{ id: itemId, price: priceOf(settings, plan) }],
                      billing_cycle_anchor: { type: 'now' },
                      proration_behavior: 'always_invoice',
                      payment_behavior: 'pending_if_incomplete',
                      expand: ['latest_invoice'],
                  },
                  // A second click sends the same change, because both are calculated from the same invoice.
                  { idempotencyKey: `upgrade ${subscriptionId} ${plan} ${latestInvoiceOf(before)}` },
              ),
          );
    if (updated.pending_update !== null) return { ok: false, payAt: placeToPay(updated) };
    await fetchPaidInvoices(billing, subscriptionId);
    return { ok: true };
}

function latestInvoiceOf({ latest_invoice: invoice }: Stripe.Subscription): string {
    return invoice === null ? 'none' : idOf(invoice);
}

function placeToPay({ latest_invoice: invoice }: Stripe.Subscription): string | undefined {
    return invoice === null || typeof invoice === 'string' ? undefined : (invoice.hosted_invoice_url ?? undefined);
}

/** Withdraws a cancellation. */
async function resume({ ask }: Billing, { subscriptionId, endsAt }: Subscription): Promise<void> {
    if (endsAt === null) return;
    await ask((stripe) => stripe.subscriptions.update(subscriptionId, { cancel_at_period_end: false }));
}
