import type { Stripe } from 'stripe';
import type { Billing } from '../../shared/billing/billing.ts';
import { readCheckout } from '../../shared/billing/checkout.ts';
import { readInvoice } from '../../shared/billing/read-stripe.ts';
import { handleRefund, settleSubscription, takeInvoice } from '../../shared/billing/settle.ts';
import { rememberHandled, wasHandled } from '../../shared/store/billing/stripe-events.ts';

/** Handles an event by the id of its object, or of the charge that it names. Everything else is read from Stripe. */
type Handler = (billing: Billing, id: string) => Promise<void>;

const readAgain: Handler = settleSubscription;

const readOfInvoice: Handler = async (billing, invoiceId) => {
    const invoice = await readInvoice(billing, invoiceId);
    if (invoice?.subscriptionId !== undefined) await settleSubscription(billing, invoice.subscriptionId);
};

const readOfCheckout: Handler = async (billing, sessionId) => {
    const subscriptionId = await readCheckout(billing, sessionId);
    if (subscriptionId !== undefined) await settleSubscription(billing, subscriptionId);
};

/**
 * The handled events. Only `invoice.paid` grants an allowance; refunds and disputes remove it. All other events make us read the
 * subscription from Stripe again.
 */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<Stripe.Event['type'], Handler>([
    ['invoice.paid', takeInvoice],
    ['invoice.payment_failed', readOfInvoice],
    ['invoice.payment_action_required', readOfInvoice],
    ['invoice.voided', readOfInvoice],
    ['invoice.marked_uncollectible', readOfInvoice],
    ['checkout.session.completed', readOfCheckout],
    ['checkout.session.async_payment_succeeded', readOfCheckout],
    ['checkout.session.async_payment_failed', readOfCheckout],
    ['checkout.session.expired', readOfCheckout],
    ['customer.subscription.created', readAgain],
    ['customer.subscription.updated', readAgain],
    ['customer.subscription.deleted', readAgain],
    ['customer.subscription.paused', readAgain],
    ['customer.subscription.resumed', readAgain],
    ['customer.subscription.pending_update_applied', readAgain],
    ['customer.subscription.pending_update_expired', readAgain],
    ['charge.refunded', handleRefund],
    ['charge.dispute.created', handleRefund],
    ['charge.dispute.funds_withdrawn', handleRefund],
]);

/** Handles an event once. It is recorded at the end, so that a failed event is handled again from the start. */
export async function handleEvent(billing: Billing, event: Stripe.Event): Promise<void> {
    const handler = HANDLERS.get(event.type);
    if (handler === undefined || (await wasHandled(billing.db, event.id))) return;
    await handler(billing, subjectOf(event));
    await rememberHandled(billing.db, event);
    billing.log.info({ part: 'billing', event: event.id, event_type: event.type }, 'handled a Stripe event');
}

function subjectOf(event: Stripe.Event): string {
    const { id, charge } = event.data.object as { id: string; charge?: string | { id: string } };
    if (!event.type.startsWith('charge.dispute.') || charge === undefined) return id;
    return typeof charge === 'string' ? charge : charge.id;
}
