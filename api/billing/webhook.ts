import type { Server } from '@hapi/hapi';
import type { Stripe } from 'stripe';
import type { App } from '../../shared/app.ts';
import { type Billing, billingOf, clientFor } from '../../shared/billing/billing.ts';
import { reconcileSubscriptions } from '../../shared/billing/reconcile.ts';
import { Refusal } from '../../shared/refusals.ts';
import { readBytes } from '../bodies/read-body.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { handleEvent } from './handle-event.ts';

/** Stripe's events are much smaller. */
const MAX_BYTES = 512 * 1024;
/** The longest age of a signature. An older one may be a replay. */
const TOLERANCE_SECONDS = 300;
const KEEP_MS = 60_000;

/** Handles Stripe's events, and reconciles once a minute. Without STRIPE_SECRET_KEY the path does not exist. */
export const stripeWebhook: AppPlugin = {
    name: 'stripe-webhook',
    register(server, { app }) {
        keepEveryMinute(server, app);
        const billing = billingOf(app);
        if (billing === undefined) return;
        server.route({
            method: 'POST',
            path: '/webhooks/stripe',
            options: {
                app: { isOpen: false },
            },
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

/**
 * @throws Refusal VALIDATION_ERROR if the signature is wrong or too old
 */
async function signedEvent({ settings, clock }: Billing, bytes: Buffer, signature: string | string[] | undefined): Promise<Stripe.Event> {
    const stripe = await clientFor(settings);
    try {
        const { webhookSecret } = settings;
        return stripe.webhooks.constructEvent(bytes, String(signature), webhookSecret, TOLERANCE_SECONDS, undefined, clock.now());
    } catch (cause) {
        throw new Refusal('VALIDATION_ERROR', 'The Stripe-Signature header does not fit this body.', {}, { cause });
    }
}

/** Reconciles subscriptions every minute in every process; the store gives each subscription to one process. */
function keepEveryMinute(server: Server, app: App): void {
    let running: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
        running = running.then(() =>
            reconcileSubscriptions(app).catch((error: unknown) => {
                app.log.warn({ part: 'billing', err: error }, 'subscriptions could not be looked at; it is tried again in a minute');
            }),
        );
    }, KEEP_MS);
    timer.unref();
    server.ext('onPreStop', async () => {
        clearInterval(timer);
        await running;
    });
}
