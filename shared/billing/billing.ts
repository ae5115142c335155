import type { Stripe } from 'stripe';
import type { App } from '../app.ts';
import type { SoldPlan } from '../domain/accounts/subscription.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { codeOfError } from '../platform/error-code.ts';
import type { StripeSettings } from '../platform/service-settings.ts';
import { Refusal } from '../refusals.ts';

/** Payment through Stripe, if the operator configured it. */
export interface Billing extends Pick<App, 'db' | 'secrets' | 'log' | 'clock' | 'publicUrl'> {
    settings: StripeSettings;
    /**
     * Calls Stripe. Never call it inside a transaction, because the answer may take long.
     * @throws Refusal SERVICE_UNAVAILABLE if Stripe does not answer or rejects our key.
     */
    ask<Answer>(question: (stripe: Stripe) => Promise<Answer>): Promise<Answer>;
}

/** Timeout of a call, in milliseconds. A page waits for Stripe, and Stripe waits for our answer to an event. */
const TIMEOUT_MS = 10_000;

const clients = new WeakMap<StripeSettings, Promise<Stripe>>();

/** Creates the client of Stripe, with its settings; undefined if STRIPE_SECRET_KEY is not set. */
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
                const refusal = asRefusal(error);
                if (refusal !== error)
                    log.warn({ part: 'billing', reason: String(error) }, 'Stripe does not answer, or rejects STRIPE_SECRET_KEY');
                throw refusal;
            }
        },
    };
}

export function priceOf({ priceStarter, pricePro }: StripeSettings, plan: SoldPlan): string {
    return plan === 'starter' ? priceStarter : pricePro;
}

/** The plan that our settings assign to a price, whatever its name at Stripe. */
export function planOfPrice({ priceStarter, pricePro }: StripeSettings, priceId: string): SoldPlan | undefined {
    if (priceId === priceStarter) return 'starter';
    return priceId === pricePro ? 'pro' : undefined;
}

/** Whether Stripe does not know this id. */
export function isUnknown(error: unknown): boolean {
    return codeOfError(error) === 'resource_missing';
}

/** Loads the SDK on first use: it takes a third of a second and much memory, and most processes never need it. */
export async function clientFor(settings: StripeSettings): Promise<Stripe> {
    return getOrMake(clients, settings, () => createClient(settings));
}

async function createClient({ secretKey, apiBase }: StripeSettings): Promise<Stripe> {
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

/** Turns an outage of Stripe into a refusal. An error in our request stays an error. */
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
