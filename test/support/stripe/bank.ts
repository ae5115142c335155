import { newId } from '../../../shared/domain/text/ids.ts';
import {
    addMonths,
    type Charge,
    type Customer,
    type Invoice,
    type Line,
    PRICES,
    type PriceId,
    presentCharge,
    presentInvoice,
    presentSession,
    presentSubscription,
    type Session,
    type Subscription,
    totalOf,
} from './objects.ts';

/** An error answer of Stripe: its status, type and code. */
export class StripeFault extends Error {
    readonly status: number;
    readonly body: object;

    constructor(status: number, message: string, code?: string, param?: string) {
        super(message);
        this.status = status;
        this.body = { error: { type: status === 402 ? 'card_error' : 'invalid_request_error', message, code, param } };
    }
}

interface BankOptions {
    base: string;
    /** Seconds since the epoch, by the world's clock. */
    now(): number;
    /** Records an event that Stripe would send. */
    emit(type: string, object: object): void;
}

/** The part of Stripe that has customers, subscriptions and invoices, and the rules between them. */
export type Bank = ReturnType<typeof openBank>;

export function openBank({ base, now, emit }: BankOptions) {
    const sessions = new Map<string, Session>();
    const customers = new Map<string, Customer>();
    const subscriptions = new Map<string, Subscription>();
    const invoices = new Map<string, Invoice>();
    const charges = new Map<string, Charge>();
    const made = (prefix: string) => `${prefix}_${newId('op').slice(3)}`;

    const shownInvoice = (invoice: Invoice): ReturnType<typeof presentInvoice> =>
        presentInvoice(invoice, subscriptions.get(invoice.subscription ?? '')?.metadata ?? {}, base);
    const tell = (kind: 'created' | 'updated' | 'deleted', subscription: Subscription) =>
        emit(`customer.subscription.${kind}`, presentSubscription(subscription));

    function get<T>(things: ReadonlyMap<string, T>, id: string, what: string): T {
        const thing = things.get(id);
        if (thing === undefined) throw new StripeFault(404, `No such ${what}: '${id}'`, 'resource_missing', 'id');
        return thing;
    }

    function invoiceFor(subscription: Subscription, reason: Invoice['reason'], lines: Line[]): Invoice {
        const invoice: Invoice = {
            id: made('in'),
            number: `RB-${String(invoices.size + 1).padStart(4, '0')}`,
            customer: subscription.customer,
            subscription: subscription.id,
            reason,
            lines,
            status: 'open',
            paidAt: null,
            charge: null,
            created: now(),
        };
        invoices.set(invoice.id, invoice);
        subscription.latestInvoice = invoice.id;
        emit('invoice.finalized', shownInvoice(invoice));
        return invoice;
    }

    /** Collects the payment; false if the card declines it. */
    function collect(invoice: Invoice): boolean {
        const { card } = get(customers, invoice.customer, 'customer');
        const amount = totalOf(invoice);
        if (card !== 'good' && amount > 0) {
            emit(card === 'declined' ? 'invoice.payment_failed' : 'invoice.payment_action_required', shownInvoice(invoice));
            return false;
        }
        if (amount > 0) {
            const charge: Charge = {
                id: made('ch'),
                paymentIntent: made('pi'),
                invoice: invoice.id,
                customer: invoice.customer,
                amount,
                refunded: 0,
                isDisputed: false,
            };
            charges.set(charge.id, charge);
            invoice.charge = charge.id;
            emit('charge.succeeded', presentCharge(charge));
        }
        invoice.status = 'paid';
        invoice.paidAt = now();
        emit('invoice.paid', shownInvoice(invoice));
        return true;
    }

    const wholePeriod = (price: PriceId, from: number, until: number): Line => ({
        price,
        amount: PRICES[price].amount,
        from,
        until,
        isProration: false,
    });

    /** The invoice lines of an upgrade that begins a new month now: the new month, minus the unused part of the old one. */
    function upgradeLines(subscription: Subscription, price: PriceId): Line[] {
        const { start, end } = subscription;
        const unused = Math.max(0, end - now()) / (end - start);
        const credit: Line = {
            price: subscription.price,
            amount: -Math.round(PRICES[subscription.price].amount * unused),
            from: now(),
            until: end,
            isProration: true,
        };
        return [credit, wholePeriod(price, now(), addMonths(now(), 1))];
    }

    function beginFresh(subscription: Subscription, price: PriceId): void {
        Object.assign(subscription, { price, anchor: now(), months: 1, start: now(), end: addMonths(now(), 1), pending: null });
    }

    function cancel(subscription: Subscription): void {
        Object.assign(subscription, { status: 'canceled', canceledAt: now() });
        tell('deleted', subscription);
    }

    return {
        sessions,
        customers,
        subscriptions,
        invoices,
        charges,
        made,
        get,
        shownInvoice,
        upgradeLines,
        tell,

        /** Pays on the page of a session. */
        pay(sessionId: string): Subscription {
            const session = get(sessions, sessionId, 'checkout.session');
            if (session.status !== 'open') throw new StripeFault(400, 'This session is over.');
            if (session.customer === null) {
                session.customer = made('cus');
                customers.set(session.customer, { id: session.customer, email: session.email, card: 'good' });
            }
            const { customer, price } = session;
            const [start, end] = [now(), addMonths(now(), 1)];
            const subscription: Subscription = {
                ...{ id: made('sub'), itemId: made('si'), customer, price, status: 'active', anchor: start, months: 1, start, end },
                ...{ cancelAtPeriodEnd: false, canceledAt: null, latestInvoice: null, pending: null, created: start },
                metadata: session.subscriptionMetadata,
            };
            subscriptions.set(subscription.id, subscription);
            Object.assign(session, { status: 'complete', paymentStatus: 'paid', subscription: subscription.id });
            const invoice = invoiceFor(subscription, 'subscription_create', [wholePeriod(price, start, end)]);
            emit('checkout.session.completed', presentSession(session, base));
            tell('created', subscription);
            collect(invoice);
            return subscription;
        },

        /** Renews or ends all subscriptions with a finished period. */
        turn(): void {
            for (const subscription of subscriptions.values()) {
                while (['active', 'past_due'].includes(subscription.status) && subscription.end <= now()) {
                    if (subscription.cancelAtPeriodEnd) {
                        cancel(subscription);
                        break;
                    }
                    subscription.months += 1;
                    subscription.start = subscription.end;
                    subscription.end = addMonths(subscription.anchor, subscription.months);
                    const line = wholePeriod(subscription.price, subscription.start, subscription.end);
                    const isPaid = collect(invoiceFor(subscription, 'subscription_cycle', [line]));
                    subscription.status = isPaid ? 'active' : 'past_due';
                    tell('updated', subscription);
                }
            }
        },

        /** Tries again to collect what is unpaid. */
        retry(subscriptionId: string): void {
            const subscription = get(subscriptions, subscriptionId, 'subscription');
            const invoice = get(invoices, subscription.latestInvoice ?? '', 'invoice');
            if (invoice.status !== 'open' || !collect(invoice)) return;
            if (subscription.pending !== null) {
                beginFresh(subscription, subscription.pending.price);
                emit('customer.subscription.pending_update_applied', presentSubscription(subscription));
            }
            subscription.status = 'active';
            tell('updated', subscription);
        },

        /** Refunds an invoice. @param cents undefined: the whole amount */
        refund(invoiceId: string, cents?: number): void {
            const charge = get(charges, get(invoices, invoiceId, 'invoice').charge ?? '', 'charge');
            charge.refunded = Math.min(charge.amount, charge.refunded + (cents ?? charge.amount));
            emit('charge.refunded', presentCharge(charge));
        },

        dispute(invoiceId: string): void {
            const charge = get(charges, get(invoices, invoiceId, 'invoice').charge ?? '', 'charge');
            charge.isDisputed = true;
            emit('charge.dispute.created', { id: made('dp'), object: 'dispute', charge: charge.id, status: 'needs_response' });
        },

        cancel,

        /**
         * Changes the price. An immediate change begins a new period when its invoice is paid. Otherwise the next invoice has the new
         * price.
         */
        changePrice(subscription: Subscription, price: PriceId, isNow: boolean): void {
            if (!isNow) {
                subscription.price = price;
                tell('updated', subscription);
                return;
            }
            const invoice = invoiceFor(subscription, 'subscription_update', this.upgradeLines(subscription, price));
            if (collect(invoice)) beginFresh(subscription, price);
            else subscription.pending = { price, expiresAt: now() + 23 * 3600, invoice: invoice.id };
            tell('updated', subscription);
        },
    };
}
