import type { Answer } from '../page.ts';

const WAYS = {
    checkout: { words: 'Your checkout is ready. You have not been charged yet.', label: 'Pay at Stripe' },
    portal: { words: 'Manage your card, address and invoices at Stripe.', label: 'Open Stripe' },
} as const;

/** Redirects to Stripe. For a custom Stripe domain it shows a page with a link instead, since our forms may not redirect there. */
export function redirectToStripe(way: keyof typeof WAYS, url: string, origin: string): Answer {
    if (new URL(url).origin === origin) return { to: url };
    return { view: 'billing/onward', title: 'Continue to Stripe', model: { ...WAYS[way], url } };
}
