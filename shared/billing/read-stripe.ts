import type { Stripe } from 'stripe';
import { type InvoiceLine, type PaidInvoice, periodLine, type SubscriptionFacts } from '../domain/accounts/subscription.ts';
import { type Billing, isUnknown, planOfPrice } from './billing.ts';

export async function readSubscription({ ask, settings }: Billing, subscriptionId: string): Promise<SubscriptionFacts | undefined> {
    const subscription = await orUndefined(ask((stripe) => stripe.subscriptions.retrieve(subscriptionId)));
    return subscription && factsOf(settings, subscription);
}

function factsOf(settings: Billing['settings'], subscription: Stripe.Subscription): SubscriptionFacts {
    const items = subscription.items.data;
    const item = items.find(({ price }) => planOfPrice(settings, price.id) !== undefined) ?? items[0];
    if (item === undefined) throw new Error(`subscription ${subscription.id} has no item`);
    const endsAt = subscription.cancel_at ?? (subscription.cancel_at_period_end ? item.current_period_end : null);
    return {
        subscriptionId: subscription.id,
        customerId: idOf(subscription.customer),
        itemId: item.id,
        status: subscription.status,
        plan: planOfPrice(settings, item.price.id) ?? null,
        periodEnd: toDate(item.current_period_end),
        endsAt: endsAt === null ? null : toDate(endsAt),
    };
}

export interface ReadInvoice {
    invoiceId: string;
    /** Undefined for an invoice that does not belong to a subscription. */
    subscriptionId: string | undefined;
    /** Set if the invoice was paid and is for one of our plans. */
    paid: PaidInvoice | undefined;
}

export async function readInvoice({ ask, settings }: Billing, invoiceId: string): Promise<ReadInvoice | undefined> {
    const invoice = await orUndefined(ask((stripe) => stripe.invoices.retrieve(invoiceId)));
    return invoice && invoiceOf(settings, invoice);
}

/** The last paid invoices of a subscription, newest first. */
export async function readPaidInvoices({ ask, settings }: Billing, subscriptionId: string): Promise<ReadInvoice[]> {
    const { data } = await ask((stripe) => stripe.invoices.list({ subscription: subscriptionId, status: 'paid', limit: 3 }));
    return data.map((invoice) => invoiceOf(settings, invoice));
}

/** The invoice that a charge paid, and whether it was refunded; undefined if the charge paid no invoice. */
export async function readCharge(
    { ask }: Billing,
    chargeId: string,
): Promise<{ invoiceId: string; reason: 'refund' | 'dispute' | undefined } | undefined> {
    const charge = await orUndefined(ask((stripe) => stripe.charges.retrieve(chargeId)));
    if (charge?.payment_intent == null) return undefined;
    const intent = idOf(charge.payment_intent);
    const payments = await ask((stripe) =>
        stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent: intent }, limit: 1 }),
    );
    const invoice = payments.data[0]?.invoice;
    if (invoice === undefined) return undefined;
    // After a partial refund, the rest still pays for the plan.
    return { invoiceId: idOf(invoice), reason: charge.disputed ? 'dispute' : charge.refunded ? 'refund' : undefined };
}

function invoiceOf(settings: Billing['settings'], invoice: Stripe.Invoice): ReadInvoice {
    const subscription = invoice.parent?.subscription_details?.subscription;
    const subscriptionId = subscription === undefined ? undefined : idOf(subscription);
    const line = periodLine(invoice.lines.data.map((one) => lineOf(settings, one)));
    const { id: invoiceId } = invoice;
    if (subscriptionId === undefined || line === undefined || invoice.status !== 'paid')
        return { invoiceId, subscriptionId, paid: undefined };
    return {
        invoiceId,
        subscriptionId,
        paid: {
            invoiceId,
            subscriptionId,
            plan: line.plan,
            from: line.from,
            until: line.until,
            number: invoice.number,
            amountCents: invoice.amount_paid,
            currency: invoice.currency,
            link: invoice.hosted_invoice_url ?? null,
            paidAt: toDate(invoice.status_transitions.paid_at ?? invoice.created),
        },
    };
}

function lineOf(settings: Billing['settings'], line: Stripe.InvoiceLineItem): InvoiceLine {
    const price = line.pricing?.price_details?.price;
    return {
        plan: price === undefined ? undefined : planOfPrice(settings, idOf(price)),
        from: toDate(line.period.start),
        until: toDate(line.period.end),
        isProration: line.parent?.subscription_item_details?.proration ?? line.parent?.invoice_item_details?.proration ?? false,
        amountCents: line.amount,
    };
}

/** Stripe returns an id or, on request, the expanded object. */
export function idOf(thing: string | { id: string }): string {
    return typeof thing === 'string' ? thing : thing.id;
}

function toDate(seconds: number): Date {
    return new Date(seconds * 1000);
}

async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
        return await answer;
    } catch (error) {
        if (isUnknown(error)) return undefined;
        throw error;
    }
}
