import type { Stripe } from 'stripe';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import type { SoldPlan } from '../domain/subscription.ts';
import { Refusal } from '../refusals.ts';

type StripeSettings = NonNullable<Config['stripe']>;

/** Payment, where the operator set it up. */
export interface Billing extends Pick<App, 'db' | 'secrets' | 'log' | 'clock' | 'publicUrl'> {
    settings: StripeSettings;
    /**
     * Asks Stripe something. Never inside a transaction: its answer takes as long as it likes.
     * @throws Refusal SERVICE_UNAVAILABLE where Stripe does not answer, or not us.
     */
    ask<Answer>(question: (stripe: Stripe) => Promise<Answer>): Promise<Answer>;
}

/** A page waits for it, and so does Stripe for the answer to an event. */
const TIMEOUT_MS = 10_000;

const clients = new WeakMap<StripeSettings, Promise<Stripe>>();

/** Payment through Stripe; undefined where STRIPE_SECRET_KEY is not set. */
export function billingOf(app: Pick<App, 'config' | 'db' | 'secrets' | 'log' | 'clock' | 'publicUrl'>): Billing | undefined {
    const settings = app.config.stripe;
    if (settings === undefined) return undefined;
    const { db, secrets, log, clock, publicUrl } = app;
    return {
        db,
        secrets,
        log,
        clock,
        publicUrl,
        settings,
        async ask(question) {
            try {
                return await question(await clientFor(settings));
            } catch (error) {
                throw asRefusal(error);
            }
        },
    };
}

/** The price that Stripe bills a plan by. */
export function priceOf({ priceStarter, pricePro }: StripeSettings, plan: SoldPlan): string {
    return plan === 'starter' ? priceStarter : pricePro;
}

/** The plan that a price stands for: by the settings, whatever Stripe calls it. */
export function planOfPrice({ priceStarter, pricePro }: StripeSettings, priceId: string): SoldPlan | undefined {
    if (priceId === priceStarter) return 'starter';
    return priceId === pricePro ? 'pro' : undefined;
}

/** Whether Stripe said that it knows nothing under this id. */
export function isUnknown(error: unknown): boolean {
    return error instanceof Error && 'code' in error && error.code === 'resource_missing';
}

/**
 * The SDK, loaded when it is first needed: it takes a third of a second and as much memory as all else, and most processes
 * never ask Stripe anything.
 */
export async function clientFor(settings: StripeSettings): Promise<Stripe> {
    let client = clients.get(settings);
    if (client === undefined) {
        client = openClient(settings);
        clients.set(settings, client);
    }
    return client;
}

async function openClient({ secretKey, apiBase }: StripeSettings): Promise<Stripe> {
    const { Stripe } = await import('stripe');
    return new Stripe(secretKey, {
        timeout: TIMEOUT_MS,
        maxNetworkRetries: 1,
        telemetry: false,
        ...(apiBase === undefined ? {} : addressOf(new URL(apiBase))),
    });
}

function addressOf({ protocol, hostname, port }: URL): { host: string; port: number; protocol: 'http' | 'https' } {
    const isPlain = protocol === 'http:';
    return { host: hostname, port: port === '' ? (isPlain ? 80 : 443) : Number(port), protocol: isPlain ? 'http' : 'https' };
}

/** What Stripe refuses for what we sent is ours to mend, and stays what it is; all else passes. */
function asRefusal(error: unknown): unknown {
    const type = error instanceof Error && 'type' in error ? String(error.type) : '';
    const isOurs = type === 'StripeInvalidRequestError' || type === 'StripeCardError' || type === 'StripeIdempotencyError';
    if (!type.startsWith('Stripe') || isOurs) return error;
    return new Refusal(
        'SERVICE_UNAVAILABLE',
        'The payment service does not answer; try again in a moment.',
        { retryAfter: 30 },
        { cause: error },
    );
}
