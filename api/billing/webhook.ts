import type { Server } from '@hapi/hapi';
import type { Stripe } from 'stripe';
import type { App } from '../../shared/app.ts';
import { type Billing, billingOf, clientFor } from '../../shared/billing/billing.ts';
import { readCheckout } from '../../shared/billing/checkout.ts';
import { readInvoice } from '../../shared/billing/read-stripe.ts';
import { reconcileSubscriptions } from '../../shared/billing/reconcile.ts';
import { handleRefund, settleSubscription, takeInvoice } from '../../shared/billing/settle.ts';
import { Refusal } from '../../shared/refusals.ts';
import { rememberHandled, wasHandled } from '../../shared/store/billing/stripe-events.ts';
import { readBytes } from '../bodies/read-body.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Stripe's events are much smaller. */
const MAX_BYTES = 512 * 1024;
/** The longest age of a signature. An older one may be a replay. */
const TOLERANCE_SECONDS = 300;
const RECONCILE_MS = 60_000;

/** Handles Stripe's events, and reconciles once a minute. Without STRIPE_SECRET_KEY the path does not exist. */
export const stripeWebhook: AppPlugin = {
    name: 'stripe-webhook',
    register(server, { app }) {
        reconcileEveryMinute(server, app);
        const billing = billingOf(app);
        if (billing === undefined) return;
        server.route({
            method: 'POST',
            path: '/webhooks/stripe',
            options: { app: { isOpen: false } },
            handler: async (request, h) => {
                // The signature covers the exact bytes.
                const bytes = await readBytes(request, MAX_BYTES);
                const event = await signedEvent(billing, bytes, request.raw.req.headers['stripe-signature']);
                await handleEvent(billing, event);
                return h.response({ received: true }).header('cache-control', 'no-store');
            },
        });
    },
};

/** @throws Refusal VALIDATION_ERROR if the signature is wrong or too old */
async function signedEvent({ settings, clock }: Billing, bytes: Buffer, signature: string | string[] | undefined): Promise<Stripe.Event> {
    const stripe = await clientFor(settings);
    try {
        return stripe.webhooks.constructEvent(bytes, String(signature), settings.webhookSecret, TOLERANCE_SECONDS, undefined, clock.now());
    } catch (cause) {
        throw new Refusal('VALIDATION_ERROR', 'The Stripe-Signature header does not match this body, or is too old.', {}, { cause });
    }
}

/** Reconciles subscriptions every minute in every process; the store gives each subscription to one process. */
function reconcileEveryMinute(server: Server, app: App): void {
    let running: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
        running = running.then(() =>
            reconcileSubscriptions(app).catch((error: unknown) => {
                app.log.warn({ part: 'billing', err: error }, 'subscriptions could not be reconciled; the next try is in a minute');
            }),
        );
    }, RECONCILE_MS);
    timer.unref();
    server.ext('onPreStop', async () => {
        clearInterval(timer);
        await running;
    });
}

/** Handles an event by the id of its object, or of the charge that it names. Everything else is read from Stripe. */
type Handler = (billing: Billing, id: string) => Promise<void>;

const settleOfInvoice: Handler = async (billing, invoiceId) => {
    const invoice = await readInvoice(billing, invoiceId);
    if (invoice?.subscriptionId !== undefined) await settleSubscription(billing, invoice.subscriptionId);
};

const settleOfCheckout: Handler = async (billing, sessionId) => {
    const subscriptionId = await readCheckout(billing, sessionId);
    if (subscriptionId !== undefined) await settleSubscription(billing, subscriptionId);
};

/** Only `invoice.paid` grants an allowance; refunds and disputes remove it. Other events make us read the subscription again. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<Stripe.Event['type'], Handler>([
    ['invoice.paid', takeInvoice],
    ['invoice.payment_failed', settleOfInvoice],
    ['invoice.payment_action_required', settleOfInvoice],
    ['invoice.voided', settleOfInvoice],
    ['invoice.marked_uncollectible', settleOfInvoice],
    ['checkout.session.completed', settleOfCheckout],
    ['checkout.session.async_payment_succeeded', settleOfCheckout],
    ['checkout.session.async_payment_failed', settleOfCheckout],
    ['checkout.session.expired', settleOfCheckout],
    ['customer.subscription.created', settleSubscription],
    ['customer.subscription.updated', settleSubscription],
    ['customer.subscription.deleted', settleSubscription],
    ['customer.subscription.paused', settleSubscription],
    ['customer.subscription.resumed', settleSubscription],
    ['customer.subscription.pending_update_applied', settleSubscription],
    ['customer.subscription.pending_update_expired', settleSubscription],
    ['charge.refunded', handleRefund],
    ['charge.dispute.created', handleRefund],
    ['charge.dispute.funds_withdrawn', handleRefund],
]);

/** Handles an event once. It is recorded at the end, so that a failed event is handled again from the start. */
async function handleEvent(billing: Billing, event: Stripe.Event): Promise<void> {
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
