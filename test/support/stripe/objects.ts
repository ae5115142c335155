import type { Stripe } from 'stripe';

/** The objects of the local Stripe, in Stripe's published shapes. The compiler checks them against the SDK's types. */

export const PRICES = {
    price_starter_49: { amount: 4900, product: 'prod_starter' },
    price_pro_149: { amount: 14_900, product: 'prod_pro' },
    price_other: { amount: 900, product: 'prod_other' },
} as const;
export type PriceId = keyof typeof PRICES;

export interface Session {
    id: string;
    status: 'open' | 'complete' | 'expired';
    paymentStatus: 'paid' | 'unpaid';
    price: PriceId;
    customer: string | null;
    email: string | null;
    subscription: string | null;
    reference: string | null;
    metadata: Record<string, string>;
    subscriptionMetadata: Record<string, string>;
    successUrl: string;
    cancelUrl: string | null;
    created: number;
}

export interface Customer {
    id: string;
    email: string | null;
    /** The outcome of the next payment. */
    card: 'good' | 'declined' | 'asks for more';
}

export interface Subscription {
    id: string;
    itemId: string;
    customer: string;
    price: PriceId;
    status: 'incomplete' | 'active' | 'past_due' | 'unpaid' | 'canceled';
    anchor: number;
    /** Months since the anchor when the current period ends. */
    months: number;
    start: number;
    end: number;
    cancelAtPeriodEnd: boolean;
    canceledAt: number | null;
    latestInvoice: string | null;
    pending: { price: PriceId; expiresAt: number; invoice: string } | null;
    metadata: Record<string, string>;
    created: number;
}

export interface Line {
    price: PriceId;
    amount: number;
    from: number;
    until: number;
    isProration: boolean;
}

export interface Invoice {
    id: string;
    number: string;
    customer: string;
    subscription: string | null;
    reason: Stripe.Invoice.BillingReason;
    lines: Line[];
    status: 'open' | 'paid' | 'void';
    paidAt: number | null;
    charge: string | null;
    created: number;
}

export interface Charge {
    id: string;
    paymentIntent: string;
    invoice: string;
    customer: string;
    amount: number;
    refunded: number;
    isDisputed: boolean;
}

/** The end of a period. Months are counted from the anchor; in a short month, the 31st becomes the last day. */
export function addMonths(anchor: number, months: number): number {
    const date = new Date(anchor * 1000);
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + months);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, last));
    return Math.floor(date.getTime() / 1000);
}

export const totalOf = ({ lines }: Pick<Invoice, 'lines'>) =>
    Math.max(
        0,
        lines.reduce((sum, { amount }) => sum + amount, 0),
    );

export function presentSession(session: Session, base: string) {
    return {
        id: session.id,
        object: 'checkout.session',
        mode: 'subscription',
        status: session.status,
        payment_status: session.paymentStatus,
        url: session.status === 'open' ? `${base}/c/pay/${session.id}` : null,
        client_reference_id: session.reference,
        customer: session.customer,
        customer_email: session.email,
        subscription: session.subscription,
        metadata: session.metadata,
        success_url: session.successUrl,
        cancel_url: session.cancelUrl,
        created: session.created,
        livemode: false,
    } satisfies Partial<Stripe.Checkout.Session>;
}

export function presentSubscription(subscription: Subscription) {
    const { id, itemId, price, start, end, pending } = subscription;
    const item = {
        id: itemId,
        object: 'subscription_item',
        current_period_start: start,
        current_period_end: end,
        price: { id: price, object: 'price', product: PRICES[price].product, unit_amount: PRICES[price].amount, currency: 'usd' },
        quantity: 1,
        subscription: id,
    };
    return {
        id,
        object: 'subscription',
        customer: subscription.customer,
        status: subscription.status,
        billing_cycle_anchor: subscription.anchor,
        cancel_at: subscription.cancelAtPeriodEnd ? end : null,
        cancel_at_period_end: subscription.cancelAtPeriodEnd,
        canceled_at: subscription.canceledAt,
        collection_method: 'charge_automatically',
        created: subscription.created,
        currency: 'usd',
        items: { object: 'list', data: [item], has_more: false, url: `/v1/subscription_items?subscription=${id}` },
        latest_invoice: subscription.latestInvoice,
        livemode: false,
        metadata: subscription.metadata,
        pending_update: pending === null ? null : { expires_at: pending.expiresAt, subscription_items: [{ id: itemId }] },
    };
}

export function presentInvoice(invoice: Invoice, metadata: Record<string, string>, base: string) {
    const total = totalOf(invoice);
    const lines = invoice.lines.map((line, place) => presentLine(invoice, line, place));
    return {
        id: invoice.id,
        object: 'invoice',
        number: invoice.number,
        status: invoice.status,
        billing_reason: invoice.reason,
        collection_method: 'charge_automatically',
        customer: invoice.customer,
        currency: 'usd',
        amount_due: total,
        amount_paid: invoice.status === 'paid' ? total : 0,
        amount_remaining: invoice.status === 'paid' ? 0 : total,
        total,
        created: invoice.created,
        hosted_invoice_url: `${base}/i/${invoice.id}`,
        lines: { object: 'list', data: lines, has_more: false, url: `/v1/invoices/${invoice.id}/lines` },
        livemode: false,
        parent:
            invoice.subscription === null
                ? null
                : {
                      type: 'subscription_details',
                      quote_details: null,
                      subscription_details: { metadata, subscription: invoice.subscription },
                  },
        // Stripe has the usage period here; for a subscription this is the period before. The lines say which period is paid.
        period_start: invoice.created,
        period_end: invoice.created,
        status_transitions: { finalized_at: invoice.created, marked_uncollectible_at: null, paid_at: invoice.paidAt, voided_at: null },
    };
}

function presentLine({ id, subscription }: Invoice, line: Line, place: number) {
    return {
        id: `il_${id}_${place}`,
        object: 'line_item',
        amount: line.amount,
        currency: 'usd',
        description: line.isProration ? 'Unused time' : '1 × plan',
        invoice: id,
        livemode: false,
        parent: {
            type: 'subscription_item_details',
            invoice_item_details: null,
            subscription_item_details: {
                invoice_item: null,
                proration: line.isProration,
                proration_details: null,
                subscription,
                subscription_item: 'si_any',
            },
        },
        period: { start: line.from, end: line.until },
        pricing: {
            type: 'price_details',
            price_details: { price: line.price, product: PRICES[line.price].product },
            unit_amount_decimal: String(PRICES[line.price].amount),
        },
        quantity: 1,
    };
}

export function presentCharge(charge: Charge) {
    return {
        id: charge.id,
        object: 'charge',
        amount: charge.amount,
        amount_refunded: charge.refunded,
        refunded: charge.refunded >= charge.amount,
        disputed: charge.isDisputed,
        customer: charge.customer,
        payment_intent: charge.paymentIntent,
        currency: 'usd',
        livemode: false,
        paid: true,
        status: 'succeeded',
    } satisfies Partial<Stripe.Charge>;
}
