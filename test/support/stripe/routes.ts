import { type Bank, StripeFault } from './bank.ts';
import { type Form, flatAt, textAt } from './forms.ts';
import { PRICES, type PriceId, presentCharge, presentSession, presentSubscription, type Session, type Subscription } from './objects.ts';

export interface Asked {
    method: string;
    path: string;
    form: Form;
}

interface Route {
    method: string;
    path: RegExp;
    /** The parameters that Stripe documents and that we use. Others are refused, as Stripe does. */
    takes: readonly string[];
    answer(bank: Bank, id: string, form: Form, base: string): object;
}

const list = (data: object[], url: string) => ({ object: 'list', data, has_more: false, url });

const ROUTES: readonly Route[] = [
    {
        method: 'POST',
        path: /^\/v1\/checkout\/sessions$/,
        takes: [
            'mode',
            'line_items',
            'client_reference_id',
            'success_url',
            'cancel_url',
            'customer',
            'customer_email',
            'metadata',
            'subscription_data',
        ],
        answer(bank, _id, form, base) {
            if (textAt(form, 'mode') !== 'subscription') throw new StripeFault(400, 'Only subscriptions are sold here.', undefined, 'mode');
            const [customer, email] = [textAt(form, 'customer'), textAt(form, 'customer_email')];
            if (customer !== undefined && email !== undefined) {
                throw new StripeFault(400, 'You may only specify one of these parameters: customer, customer_email.');
            }
            if (customer !== undefined) bank.get(bank.customers, customer, 'customer');
            const session: Session = {
                id: bank.made('cs_test'),
                status: 'open',
                paymentStatus: 'unpaid',
                price: priceIn(textAt(form, 'line_items', '0', 'price')),
                customer: customer ?? null,
                email: email ?? null,
                subscription: null,
                reference: textAt(form, 'client_reference_id') ?? null,
                metadata: flatAt(form, 'metadata'),
                subscriptionMetadata: flatAt(form, 'subscription_data', 'metadata'),
                successUrl: textAt(form, 'success_url') ?? '',
                cancelUrl: textAt(form, 'cancel_url') ?? null,
                created: 0,
            };
            bank.sessions.set(session.id, session);
            return presentSession(session, base);
        },
    },
    {
        method: 'GET',
        path: /^\/v1\/checkout\/sessions$/,
        takes: ['subscription', 'limit'],
        answer(bank, _id, form, base) {
            const found = [...bank.sessions.values()].filter(({ subscription }) => subscription === textAt(form, 'subscription'));
            return list(
                found.map((session) => presentSession(session, base)),
                '/v1/checkout/sessions',
            );
        },
    },
    {
        method: 'GET',
        path: /^\/v1\/checkout\/sessions\/([^/]+)$/,
        takes: [],
        answer: (bank, id, _form, base) => presentSession(bank.get(bank.sessions, id, 'checkout.session'), base),
    },
    {
        method: 'POST',
        path: /^\/v1\/checkout\/sessions\/([^/]+)\/expire$/,
        takes: [],
        answer(bank, id, _form, base) {
            const session = bank.get(bank.sessions, id, 'checkout.session');
            if (session.status !== 'open') {
                throw new StripeFault(
                    400,
                    `Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`,
                );
            }
            session.status = 'expired';
            return presentSession(session, base);
        },
    },
    {
        method: 'GET',
        path: /^\/v1\/subscriptions\/([^/]+)$/,
        takes: ['expand'],
        answer: (bank, id, form) => expanded(bank, bank.get(bank.subscriptions, id, 'subscription'), form),
    },
    {
        method: 'POST',
        path: /^\/v1\/subscriptions\/([^/]+)$/,
        takes: ['items', 'billing_cycle_anchor', 'proration_behavior', 'payment_behavior', 'cancel_at_period_end', 'expand'],
        answer(bank, id, form) {
            const subscription = bank.get(bank.subscriptions, id, 'subscription');
            if (subscription.status === 'canceled') {
                throw new StripeFault(400, 'A canceled subscription can only update its cancellation_details and metadata.');
            }
            const cancels = textAt(form, 'cancel_at_period_end');
            if (cancels !== undefined && textAt(form, 'payment_behavior') === 'pending_if_incomplete') {
                throw new StripeFault(
                    400,
                    'cancel_at_period_end is not supported with pending_if_incomplete.',
                    undefined,
                    'payment_behavior',
                );
            }
            if (cancels !== undefined) subscription.cancelAtPeriodEnd = cancels === 'true';
            const price = textAt(form, 'items', '0', 'price');
            if (price === undefined) bank.tell('updated', subscription);
            else {
                if (textAt(form, 'items', '0', 'id') !== subscription.itemId) throw new StripeFault(400, 'No such subscription item.');
                bank.changePrice(subscription, priceIn(price), textAt(form, 'billing_cycle_anchor', 'type') === 'now');
            }
            return expanded(bank, subscription, form);
        },
    },
    {
        method: 'DELETE',
        path: /^\/v1\/subscriptions\/([^/]+)$/,
        takes: ['invoice_now', 'prorate'],
        answer(bank, id) {
            const subscription = bank.get(bank.subscriptions, id, 'subscription');
            if (subscription.status === 'canceled') throw new StripeFault(404, `No such subscription: '${id}'`, 'resource_missing', 'id');
            bank.cancel(subscription);
            return presentSubscription(subscription);
        },
    },
    {
        method: 'GET',
        path: /^\/v1\/invoices$/,
        takes: ['subscription', 'status', 'limit'],
        answer(bank, _id, form) {
            const found = [...bank.invoices.values()].filter(
                (invoice) => invoice.subscription === textAt(form, 'subscription') && invoice.status === textAt(form, 'status'),
            );
            return list(
                found
                    .toReversed()
                    .slice(0, Number(textAt(form, 'limit') ?? 10))
                    .map(bank.shownInvoice),
                '/v1/invoices',
            );
        },
    },
    {
        method: 'POST',
        path: /^\/v1\/invoices\/create_preview$/,
        takes: ['customer', 'subscription', 'subscription_details'],
        answer(bank, _id, form) {
            const subscription = bank.get(bank.subscriptions, textAt(form, 'subscription') ?? '', 'subscription');
            const price = priceIn(textAt(form, 'subscription_details', 'items', '0', 'price'));
            const total = bank.upgradeLines(subscription, price).reduce((sum, { amount }) => sum + amount, 0);
            return { id: bank.made('upcoming_in'), object: 'invoice', amount_due: Math.max(0, total), total, currency: 'usd' };
        },
    },
    {
        method: 'GET',
        path: /^\/v1\/invoices\/([^/]+)$/,
        takes: [],
        answer: (bank, id) => bank.shownInvoice(bank.get(bank.invoices, id, 'invoice')),
    },
    {
        method: 'GET',
        path: /^\/v1\/charges\/([^/]+)$/,
        takes: [],
        answer: (bank, id) => presentCharge(bank.get(bank.charges, id, 'charge')),
    },
    {
        method: 'GET',
        path: /^\/v1\/invoice_payments$/,
        takes: ['payment', 'limit'],
        answer(bank, _id, form) {
            const intent = textAt(form, 'payment', 'payment_intent');
            const found = [...bank.charges.values()].filter(({ paymentIntent }) => paymentIntent === intent);
            const payments = found.map(({ invoice, amount }) => ({
                id: bank.made('inpay'),
                object: 'invoice_payment',
                amount_paid: amount,
                invoice,
                payment: { type: 'payment_intent', payment_intent: intent },
                status: 'paid',
            }));
            return list(payments, '/v1/invoice_payments');
        },
    },
    {
        method: 'GET',
        path: /^\/v1\/billing_portal\/configurations$/,
        takes: ['active', 'limit'],
        answer: () => list([], '/v1/billing_portal/configurations'),
    },
    {
        method: 'POST',
        path: /^\/v1\/billing_portal\/configurations$/,
        takes: ['features', 'metadata'],
        answer: (bank, _id, form) => ({
            id: bank.made('bpc'),
            object: 'billing_portal.configuration',
            active: true,
            metadata: flatAt(form, 'metadata'),
        }),
    },
    {
        method: 'POST',
        path: /^\/v1\/billing_portal\/sessions$/,
        takes: ['customer', 'configuration', 'return_url'],
        answer(bank, _id, form, base) {
            const { id } = bank.get(bank.customers, textAt(form, 'customer') ?? '', 'customer');
            return {
                id: bank.made('bps'),
                object: 'billing_portal.session',
                customer: id,
                return_url: textAt(form, 'return_url'),
                url: `${base}/p/session/${id}?back=${encodeURIComponent(textAt(form, 'return_url') ?? '')}`,
            };
        },
    },
];

/** Answers one API call. @throws StripeFault if Stripe would refuse it */
export function answer(bank: Bank, { method, path, form }: Asked, base: string): object {
    for (const route of ROUTES) {
        const match = route.method === method ? route.path.exec(path) : null;
        if (match === null) continue;
        const unknown = Object.keys(form).find((name) => !route.takes.includes(name));
        if (unknown !== undefined) throw new StripeFault(400, `Received unknown parameter: ${unknown}`, 'parameter_unknown', unknown);
        return route.answer(bank, match[1] ?? '', form, base);
    }
    throw new StripeFault(404, `Unrecognized request URL (${method}: ${path}).`);
}

function expanded(bank: Bank, subscription: Subscription, form: Form): object {
    const latest = bank.invoices.get(subscription.latestInvoice ?? '');
    const shown = presentSubscription(subscription);
    const isWanted = Object.values(flatAt(form, 'expand')).includes('latest_invoice');
    return isWanted && latest !== undefined ? { ...shown, latest_invoice: bank.shownInvoice(latest) } : shown;
}

function priceIn(text: string | undefined): PriceId {
    if (text === undefined || !Object.hasOwn(PRICES, text))
        throw new StripeFault(400, `No such price: '${text}'`, 'resource_missing', 'price');
    return text as PriceId;
}
