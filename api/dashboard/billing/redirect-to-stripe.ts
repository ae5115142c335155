import type { Answer } from '../page.ts';

/** Texts of the page before Stripe. */
const WAYS = {
    checkout: { words: 'Your checkout is ready. You have not been charged yet.', label: 'Pay at Stripe' },
    portal: { words: 'Manage your card, address and invoices at Stripe.', label: 'Open Stripe' },
} as const;

/** Redirects to Stripe. A custom Stripe domain gets a page with a link, since our forms must not lead there. */
export function redirectToStripe(way: keyof typeof WAYS, url: string, origin: string): Answer {
    if (new URL(url).origin === origin) return { to: url };
    return { view: 'billing/onward', title: 'Continue to Stripe', model: { ...WAYS[way], url } };
}
