import type { Answer } from '../page.ts';

/** Where a way into Stripe leads, as its page in between says it. */
const WAYS = {
    checkout: { words: 'Your checkout is ready. You have not been charged yet.', label: 'Pay at Stripe' },
    portal: { words: 'Manage your card, address and invoices at Stripe.', label: 'Open Stripe' },
} as const;

/** Straight on to Stripe; a page in between only where Stripe shows itself under a name of the operator's own, which no form may lead to. */
export function redirectToStripe(way: keyof typeof WAYS, url: string, origin: string): Answer {
    if (new URL(url).origin === origin) return { to: url };
    return { view: 'billing/onward', title: 'Continue to Stripe', model: { ...WAYS[way], url } };
}
