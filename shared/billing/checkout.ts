import type { Stripe } from 'stripe';
import type { Plan } from '../domain/accounts/plans.ts';
import { isAbove, type SoldPlan } from '../domain/accounts/subscription.ts';
import * as checkouts from '../store/billing/checkouts.ts';
import { findSubscription, isBilled } from '../store/billing/subscriptions.ts';
import { type Billing, isUnknown, priceOf } from './billing.ts';
import { idOf } from './read-stripe.ts';
import { fetchPaidInvoices } from './settle.ts';

interface CheckoutOrder {
    workspaceId: string;
    current: Plan;
    wanted: SoldPlan;
    userId: string;
    email: string;
}

type StartedCheckout =
    | { ok: true; url: string }
    /**
     * `subscribed`: the plan has to be changed, not bought again. `by operator`: there is a custom agreement. `busy`: another tab is
     * running a checkout.
     */
    | { ok: false; why: 'subscribed' | 'by operator' | 'busy' };

/**
 * Begins a checkout at Stripe and closes any open one, so that only one can be paid. A second request for the same plan returns the same
 * checkout.
 */
export async function beginCheckout(billing: Billing, order: CheckoutOrder): Promise<StartedCheckout> {
    const { db } = billing;
    const { workspaceId, current, wanted, userId } = order;
    const url = await findSame(billing, order);
    if (url !== undefined) return { ok: true, url };
    await closeCheckout(billing, workspaceId);
    const subscription = await findSubscription(db, workspaceId);
    if (isBilled(subscription)) return { ok: false, why: 'subscribed' };
    if (!isAbove(wanted, current)) return { ok: false, why: 'by operator' };
    const checkoutId = await checkouts.addCheckout(db, { workspaceId, userId, plan: wanted });
    if (checkoutId === undefined) return { ok: false, why: 'busy' };
    const session = await createSession(billing, checkoutId, order, subscription?.customerId);
    if (session.url !== null && (await checkouts.openCheckout(db, checkoutId, session.id))) return { ok: true, url: session.url };
    await billing.ask((stripe) => stripe.checkout.sessions.expire(session.id));
    return { ok: false, why: 'busy' };
}

/** Handles the return from Stripe. Returns the plan if the session was paid and belongs to this workspace. Does not wait for an event. */
export async function returnFromCheckout(billing: Billing, workspaceId: string, sessionId: string): Promise<SoldPlan | undefined> {
    const checkout = await checkouts.findCheckoutBySession(billing.db, sessionId);
    if (checkout?.workspaceId !== workspaceId) return undefined;
    const subscriptionId = await readCheckout(billing, sessionId);
    if (subscriptionId !== undefined) await fetchPaidInvoices(billing, subscriptionId);
    return subscriptionId === undefined ? undefined : checkout.plan;
}

/** Reads a session from Stripe, and ends its checkout if it is over. Returns its subscription, if any. */
export async function readCheckout({ db, ask }: Billing, sessionId: string): Promise<string | undefined> {
    const checkout = await checkouts.findCheckoutBySession(db, sessionId);
    if (checkout === undefined) return undefined;
    const session = await ask((stripe) => stripe.checkout.sessions.retrieve(sessionId));
    if (session.status === 'expired') await checkouts.endCheckout(db, checkout.checkoutId, 'closed');
    if (session.status !== 'complete' || session.subscription === null) return undefined;
    await checkouts.endCheckout(db, checkout.checkoutId, 'done');
    return idOf(session.subscription);
}

/** Ends the open checkout of a workspace, so that it can no longer be paid. A checkout that was already paid is settled instead. */
export async function closeCheckout(billing: Billing, workspaceId: string): Promise<void> {
    const { db, ask } = billing;
    await checkouts.closeUnopened(db, workspaceId);
    const open = await checkouts.findOpenCheckout(db, workspaceId);
    if (open?.sessionId == null) return;
    const { checkoutId, sessionId } = open;
    try {
        await ask((stripe) => stripe.checkout.sessions.expire(sessionId));
    } catch (error) {
        if (!isRefused(error)) throw error;
        // The checkout is already over: it was paid or has expired.
        const subscriptionId = isUnknown(error) ? undefined : await readCheckout(billing, sessionId);
        if (subscriptionId !== undefined) await fetchPaidInvoices(billing, subscriptionId);
    }
    await checkouts.endCheckout(db, checkoutId, 'closed');
}

/** The origin of checkouts, for the Content-Security-Policy of pages with forms. */
export function checkoutOrigin({ settings: { apiBase } }: Billing): string {
    return apiBase === undefined ? 'https://checkout.stripe.com' : new URL(apiBase).origin;
}

/** The URL of this user's open checkout for this plan, if it can still be paid and no other checkout can. */
async function findSame({ db, ask }: Billing, { workspaceId, current, wanted, userId }: CheckoutOrder): Promise<string | undefined> {
    const [open, subscription] = await Promise.all([checkouts.findOpenCheckout(db, workspaceId), findSubscription(db, workspaceId)]);
    if (open?.sessionId == null || open.plan !== wanted || open.userId !== userId) return undefined;
    if (isBilled(subscription) || !isAbove(wanted, current)) return undefined;
    const { sessionId } = open;
    try {
        const { status, url } = await ask((stripe) => stripe.checkout.sessions.retrieve(sessionId));
        return status === 'open' && url !== null ? url : undefined;
    } catch (error) {
        if (isUnknown(error)) return undefined;
        throw error;
    }
}

async function createSession(
    { db, ask, settings, publicUrl }: Billing,
    checkoutId: string,
    { workspaceId, wanted, email }: CheckoutOrder,
    customer: string | undefined,
): Promise<Stripe.Checkout.Session> {
    // For people who read the pages of Stripe. Our code does not use it.
    const metadata = { checkout: checkoutId, workspace: workspaceId };
    const page = `${publicUrl()}/dashboard/billing`;
    try {
        return await ask((stripe) =>
            stripe.checkout.sessions.create(
                {
                    mode: 'subscription',
                    line_items: [{ price: priceOf(settings, wanted), quantity: 1 }],
                    client_reference_id: checkoutId,
                    success_url: `${page}?checkout={CHECKOUT_SESSION_ID}`,
                    cancel_url: page,
                    ...(customer === undefined ? { customer_email: email } : { customer }),
                    metadata,
                    subscription_data: { metadata },
                },
                { idempotencyKey: checkoutId },
            ),
        );
    } catch (error) {
        await checkouts.endCheckout(db, checkoutId, 'closed');
        throw error;
    }
}

function isRefused(error: unknown): boolean {
    return error instanceof Error && 'type' in error && error.type === 'StripeInvalidRequestError';
}
