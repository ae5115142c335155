import { type Billing, isUnknown } from './billing.ts';

/** Version of our configuration of Stripe's portal. A new number creates a new configuration. */
const EDITION = '1';

const configurations = new WeakMap<Billing['settings'], string>();

/**
 * Creates a session of Stripe's portal, for card, address and invoices. Plans are changed on our page, which explains the effect of a
 * change on credits. A subscription can be cancelled in the portal too. Undefined if Stripe no longer knows the customer.
 */
export async function openPortal(billing: Billing, customerId: string): Promise<string | undefined> {
    const configuration = await configurationOf(billing);
    try {
        const session = await billing.ask((stripe) =>
            stripe.billingPortal.sessions.create({
                customer: customerId,
                configuration,
                return_url: `${billing.publicUrl()}/dashboard/billing`,
            }),
        );
        return session.url;
    } catch (error) {
        configurations.delete(billing.settings);
        if (isUnknown(error)) return undefined;
        throw error;
    }
}

/** The origin of the portal, for the Content-Security-Policy of pages with forms. */
export function portalOrigin({ settings: { apiBase } }: Billing): string {
    return apiBase === undefined ? 'https://billing.stripe.com' : new URL(apiBase).origin;
}

async function configurationOf({ ask, settings }: Billing): Promise<string> {
    const known = configurations.get(settings);
    if (known !== undefined) return known;
    const { data } = await ask((stripe) => stripe.billingPortal.configurations.list({ active: true, limit: 100 }));
    const ours = data.find(({ metadata }) => metadata?.['routebook'] === EDITION) ?? (await makeConfiguration(ask));
    configurations.set(settings, ours.id);
    return ours.id;
}

function makeConfiguration(ask: Billing['ask']) {
    return ask((stripe) =>
        stripe.billingPortal.configurations.create(
            {
                features: {
                    customer_update: { enabled: true, allowed_updates: ['name', 'email', 'address', 'tax_id'] },
                    invoice_history: { enabled: true },
                    payment_method_update: { enabled: true },
                    subscription_cancel: { enabled: true, mode: 'at_period_end' },
                    subscription_update: { enabled: false },
                },
                metadata: { routebook: EDITION },
            },
            { idempotencyKey: `routebook portal ${EDITION}` },
        ),
    );
}
