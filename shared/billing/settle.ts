import { setTimeout as pause } from 'node:timers/promises';
import { PLANS } from '../domain/accounts/plans.ts';
import {
    checkSubscription,
    type EndReason,
    isLive,
    isOver,
    isPaymentDue,
    type SubscriptionFacts,
} from '../domain/accounts/subscription.ts';
import type { Db } from '../platform/db.ts';
import { Refusal } from '../refusals.ts';
import { recordChange } from '../store/accounts/audit.ts';
import { recordAct } from '../store/accounts/workspace-audit.ts';
import { lockWorkspace } from '../store/accounts/workspaces.ts';
import { findCheckoutBySession } from '../store/billing/checkouts.ts';
import { addInvoice, isInvoiceStored, markGranted, markRefunded, newestInvoice } from '../store/billing/invoices.ts';
import * as subscriptions from '../store/billing/subscriptions.ts';
import { changePlan, renewWorkspace } from '../store/credits/accounts.ts';
import { type Billing, isUnknown } from './billing.ts';
import { notifyOfEnd, notifyOfFailure, removePaymentNotices } from './notices.ts';
import { type ReadInvoice, readCharge, readInvoice, readPaidInvoices, readSubscription } from './read-stripe.ts';

/**
 * Decides the plan of a workspace. After every event, we read the subscription from Stripe again and compare it with the paid invoices. So
 * the order and number of events do not matter.
 */
export async function settleSubscription(billing: Billing, subscriptionId: string): Promise<void> {
    const workspaceId = await workspaceOf(billing, subscriptionId);
    if (workspaceId === undefined) {
        // The Stripe account may sell other products too.
        billing.log.warn({ part: 'billing', subscription: subscriptionId }, 'Stripe reported a subscription without a checkout of ours');
        return;
    }
    await settleWorkspace(billing, workspaceId, subscriptionId);
}

/** Stores a paid invoice. Storing it grants the allowance of its period, once. */
export async function takeInvoice(billing: Billing, invoiceId: string): Promise<void> {
    const invoice = await readInvoice(billing, invoiceId);
    if (invoice?.subscriptionId === undefined) return;
    // The invoice is stored before the read, so that every later read sees it.
    await storeInvoice(billing, invoice);
    await settleSubscription(billing, invoice.subscriptionId);
}

/** Fetches the paid invoices of a subscription, when a page waits for them or an event was lost. */
export async function fetchPaidInvoices(billing: Billing, subscriptionId: string): Promise<void> {
    for (const invoice of await readPaidInvoices(billing, subscriptionId)) await storeInvoice(billing, invoice);
    await settleSubscription(billing, subscriptionId);
}

/** Handles refunds of the current period's payment, and all disputes. */
export async function handleRefund(billing: Billing, chargeId: string): Promise<void> {
    const { db } = billing;
    const charge = await readCharge(billing, chargeId);
    if (charge?.reason === undefined) return;
    // The event of the invoice may still arrive. It then grants nothing.
    if (!(await isInvoiceStored(db, charge.invoiceId))) await storeInvoice(billing, await readInvoice(billing, charge.invoiceId));
    const invoice = await markRefunded(db, charge.invoiceId);
    if (invoice === undefined) return;
    // Makes sure that a stored subscription exists, so that it can be ended.
    if ((await subscriptions.findBySubscription(db, invoice.subscriptionId)) === undefined) {
        await settleSubscription(billing, invoice.subscriptionId);
    }
    const newest = await newestInvoice(db, invoice.subscriptionId);
    const isCurrent = newest === undefined || newest.until.getTime() <= invoice.until.getTime();
    if (isCurrent || charge.reason === 'dispute')
        await endSubscription(billing, invoice.workspaceId, invoice.subscriptionId, charge.reason);
}

/** Ends a subscription at once: first the plan here, then the billing at Stripe. Call it again after a failure. */
export async function endSubscription(billing: Billing, workspaceId: string, subscriptionId: string, reason: EndReason): Promise<void> {
    await endPlan(billing, workspaceId, subscriptionId, reason);
    await settleWorkspace(billing, workspaceId, subscriptionId);
}

/** Ends the plan without calling Stripe. */
export async function endPlan(
    billing: Pick<Billing, 'db' | 'secrets' | 'publicUrl'>,
    workspaceId: string,
    subscriptionId: string,
    reason: EndReason,
): Promise<void> {
    await billing.db.transaction(async (trx) => {
        await lockWorkspace(trx, workspaceId);
        await subscriptions.markEnded(trx, workspaceId, subscriptionId, reason);
        await applyVerdict(trx, workspaceId, billing);
    });
}

/** Reads a workspace's subscription and applies it. The read that began last wins. */
export async function settleWorkspace(billing: Billing, workspaceId: string, subscriptionId: string): Promise<void> {
    const { db, log } = billing;
    for (let tries = 1; tries <= MAX_READS; tries++) {
        const number = await subscriptions.beginRead(db, workspaceId);
        const facts = await readSubscription(billing, subscriptionId);
        if (facts === undefined) {
            // The settings may refer to another Stripe account, so nobody loses a plan because of that.
            await subscriptions.markGone(db, workspaceId, subscriptionId);
            log.warn({ part: 'billing', workspace: workspaceId, subscription: subscriptionId }, 'Stripe no longer knows a subscription');
            return;
        }
        const done = await writeDown(billing, workspaceId, number, facts);
        if (done === 'not the one' && isLive(facts.status)) {
            log.error({ part: 'billing', workspace: workspaceId, subscription: subscriptionId }, 'a workspace has two subscriptions');
        }
        if (done !== 'void') {
            if (await isToCancel(db, workspaceId, facts)) await cancelAtStripe(billing, workspaceId, subscriptionId);
            return;
        }
        // A later read has seen the same facts. If that read fails, this one continues.
        for (let waits = 0; waits < WAITS; waits++) {
            if (await subscriptions.isSuperseded(db, workspaceId, number)) return;
            await pause(WAIT_MS * (1 + Math.random()));
        }
    }
    throw new Refusal('SERVICE_UNAVAILABLE', 'This subscription is being changed by other calls; try again.', { retryAfter: 5 });
}

const MAX_READS = 5;
const WAITS = 10;
const WAIT_MS = 30;

async function writeDown(
    billing: Billing,
    workspaceId: string,
    number: number,
    facts: SubscriptionFacts,
): Promise<Awaited<ReturnType<typeof subscriptions.writeRead>>> {
    return billing.db.transaction(async (trx) => {
        await lockWorkspace(trx, workspaceId);
        const done = await subscriptions.writeRead(trx, workspaceId, number, facts);
        if (done === 'written') await applyVerdict(trx, workspaceId, billing);
        return done;
    });
}

/** Applies the stored facts to the plan, in the transaction that wrote them. */
async function applyVerdict(trx: Db, workspaceId: string, sender: Pick<Billing, 'secrets' | 'publicUrl'>): Promise<void> {
    const subscription = await subscriptions.findSubscription(trx, workspaceId);
    if (subscription === undefined) return;
    const newest = await newestInvoice(trx, subscription.subscriptionId);
    const hasPaidPlan = await subscriptions.hasPaidPlan(trx, workspaceId);
    const verdict = checkSubscription(subscription, newest, hasPaidPlan);
    if (verdict === 'end plan') {
        const why = subscription.endedBy ?? subscription.status;
        await changePlan(trx, workspaceId, { plan: 'free', planAllowance: PLANS.free.allowance });
        await audit(trx, workspaceId, { plan: 'free', why });
        await recordPlan(trx, workspaceId, { plan: 'free', why });
        await notifyOfEnd(trx, sender, subscription, why);
    }
    if (verdict === 'leave' && hasPaidPlan && isPaymentDue(subscription.status)) await notifyOfFailure(trx, sender, subscription);
    if (verdict !== 'begin period' || newest === undefined || !(await markGranted(trx, newest.invoiceId))) return;
    const { plan, from, until } = newest;
    const former = await trx('workspaces').where({ id: workspaceId }).first('plan');
    const isDone = await renewWorkspace(trx, workspaceId, { plan, planAllowance: PLANS[plan].allowance, from, until });
    // The workspace has no members left, so the subscription ends.
    if (!isDone) return subscriptions.markEnded(trx, workspaceId, subscription.subscriptionId, 'deletion');
    await audit(trx, workspaceId, { plan, why: newest.invoiceId });
    if (former?.plan !== plan) await recordPlan(trx, workspaceId, { plan, why: newest.invoiceId });
    await removePaymentNotices(trx, workspaceId);
}

async function audit(trx: Db, target: string, after: { plan: string; why: string }): Promise<void> {
    await recordChange(trx, { actor: 'stripe', command: 'plan change', target, reason: null, before: null, after });
}

async function recordPlan(trx: Db, workspaceId: string, details: { plan: string; why: string }): Promise<void> {
    await recordAct(trx, { workspaceId, actor: 'system', action: 'plan.changed', target: workspaceId, details });
}

async function isToCancel(db: Db, workspaceId: string, { subscriptionId, status }: SubscriptionFacts): Promise<boolean> {
    const subscription = await subscriptions.findSubscription(db, workspaceId);
    return subscription?.subscriptionId === subscriptionId && subscription.endedBy !== null && !isOver(status);
}

/** Cancels without a refund. Nothing more is billed. */
async function cancelAtStripe(billing: Billing, workspaceId: string, subscriptionId: string): Promise<void> {
    try {
        await billing.ask((stripe) => stripe.subscriptions.cancel(subscriptionId, { invoice_now: false, prorate: false }));
    } catch (error) {
        // The subscription has already been cancelled.
        if (!isUnknown(error)) throw error;
    }
    const number = await subscriptions.beginRead(billing.db, workspaceId);
    const facts = await readSubscription(billing, subscriptionId);
    if (facts !== undefined) await writeDown(billing, workspaceId, number, facts);
}

async function storeInvoice({ db, ask, log }: Billing, invoice: ReadInvoice | undefined): Promise<void> {
    const { paid } = invoice ?? {};
    if (paid === undefined) return log.info({ part: 'billing', invoice: invoice?.invoiceId }, 'an invoice is not paid, or not for a plan');
    const workspaceId = await workspaceOf({ db, ask }, paid.subscriptionId);
    if (workspaceId !== undefined) await addInvoice(db, workspaceId, paid);
}

/** Finds the workspace of a subscription by our earlier reads, or by the checkout that was stored before the payment. */
async function workspaceOf({ db, ask }: Pick<Billing, 'db' | 'ask'>, subscriptionId: string): Promise<string | undefined> {
    const known = await subscriptions.findBySubscription(db, subscriptionId);
    if (known !== undefined) return known.workspaceId;
    const sessions = await ask((stripe) => stripe.checkout.sessions.list({ subscription: subscriptionId, limit: 1 }));
    const session = sessions.data[0];
    return session && (await findCheckoutBySession(db, session.id))?.workspaceId;
}
