import { type Billing, billingOf } from '../../../shared/billing/billing.ts';
import { changeSubscription, previewUpgrade } from '../../../shared/billing/change-plan.ts';
import { returnFromCheckout } from '../../../shared/billing/checkout.ts';
import { openPortal, portalOrigin } from '../../../shared/billing/portal.ts';
import { PLANS } from '../../../shared/domain/accounts/plans.ts';
import { changeTo } from '../../../shared/domain/accounts/subscription.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { selectWorkspace } from '../../../shared/store/accounts/user-sessions.ts';
import { findSubscription, isBilled, type Subscription } from '../../../shared/store/billing/subscriptions.ts';
import { oneOf, readFields } from '../fields.ts';
import { type Answer, BILLING_VIEWERS, MEMBERS, openPage, PAYERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { setCapByForm } from './caps.ts';
import { dismissByForm, NAMES, showBilling } from './show.ts';
import { beginUpgrade, redirectToStripe, showUpgrade } from './upgrade.ts';

/** Pages for plans, payment and invoices. Owners, admins and billing members may view them; only payers may change something. */
export const billingPages = [
    openPage({ method: 'GET', path: '/upgrade', respond: showUpgrade }),
    workspacePage({ method: 'POST', path: '/upgrade', audience: PAYERS, respond: beginUpgrade }),
    workspacePage({ method: 'GET', path: '/dashboard/billing', audience: BILLING_VIEWERS, respond: showBillingOrReturn }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/portal', audience: PAYERS, respond: goToPortal }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/plan', audience: PAYERS, respond: askChange }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/plan/confirm', audience: PAYERS, respond: confirmChange }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/cap', audience: PAYERS, respond: setCapByForm }),
    workspacePage({ method: 'POST', path: '/dashboard/notices/dismiss', audience: MEMBERS, respond: dismissByForm }),
];

async function showBillingOrReturn(visit: WorkspaceVisit): Promise<Answer> {
    const sessionId = visit.query('checkout');
    return sessionId === undefined ? showBilling(visit) : comeBack(visit, sessionId);
}

const CHOOSABLE = ['free', 'starter', 'pro'] as const;
const BACK = '/dashboard/billing';
const BEGUN = { starter: 'plan-begun-starter', pro: 'plan-begun-pro' } as const;

/** Shows what a change of plan means and what it costs today. Changes nothing yet. */
async function askChange(visit: WorkspaceVisit): Promise<Answer> {
    const ready = await readChange(visit);
    if ('answer' in ready) return ready.answer;
    const { billing, subscription, wanted } = ready;
    const change = changeTo(visit.workspace.plan, wanted);
    const isUpgrade = change === 'upgrade now' && wanted !== 'free';
    const due = isUpgrade ? await previewUpgrade(billing, subscription, wanted) : undefined;
    return {
        view: 'billing/confirm',
        title: `Switch to ${NAMES[wanted]}`,
        model: {
            wanted,
            change,
            due,
            current: NAMES[visit.workspace.plan],
            name: NAMES[wanted],
            figures: PLANS[wanted],
            until: subscription.periodEnd,
        },
    };
}

/** Changes the plan. If Stripe could not collect the payment, shows where to pay. */
async function confirmChange(visit: WorkspaceVisit): Promise<Answer> {
    const ready = await readChange(visit);
    if ('answer' in ready) return ready.answer;
    const { billing, subscription, wanted } = ready;
    const { app, me, workspace } = visit;
    const wait = await takeAttempts(app.db, [['checkout by workspace', workspace.workspaceId]]);
    if (wait > 0) throw new Refusal('RATE_LIMITED', 'Too many attempts. Try again in a few minutes.', { retryAfter: wait });
    // The next page shows the selected workspace.
    await selectWorkspace(app.db, me.sessionId, workspace.workspaceId);
    const changed = await changeSubscription(billing, subscription, workspace.plan, wanted);
    if (changed.ok) {
        const isUpgrade = wanted !== 'free' && changeTo(workspace.plan, wanted) === 'upgrade now';
        return { to: BACK, notice: isUpgrade ? BEGUN[wanted] : 'plan-changed' };
    }
    return {
        view: 'billing/unpaid',
        title: 'One more step',
        formsLeadTo: [portalOrigin(billing)],
        model: { payAt: changed.payAt, current: NAMES[workspace.plan], name: NAMES[wanted] },
    };
}

/** Opens Stripe's portal for card, address and invoices. It is a form and not a link, since the portal's URL needs no password. */
async function goToPortal(visit: WorkspaceVisit): Promise<Answer> {
    const { app, workspace } = visit;
    const billing = billingOf(app);
    const subscription = await findSubscription(app.db, workspace.workspaceId);
    if (billing !== undefined && subscription !== undefined) {
        const url = await openPortal(billing, subscription.customerId);
        if (url !== undefined) return redirectToStripe('portal', url, portalOrigin(billing));
    }
    return { view: 'billing/no-portal', title: 'Card and invoices', model: { contact: app.config.operatorEmails[0] } };
}

/** The browser returns from Stripe's checkout, perhaps before Stripe's event arrives. */
async function comeBack(visit: WorkspaceVisit, sessionId: string): Promise<Answer> {
    const { app, workspace } = visit;
    const billing = billingOf(app);
    if (billing === undefined) return { to: BACK };
    try {
        const plan = await returnFromCheckout(billing, workspace.workspaceId, sessionId);
        return { to: BACK, notice: plan === undefined ? 'payment-pending' : BEGUN[plan] };
    } catch (error) {
        // Stripe's events report the payment too, and Stripe repeats them until we have accepted them.
        if (!(error instanceof Refusal)) throw error;
        return { to: BACK, notice: 'payment-pending' };
    }
}

type Ready = { billing: Billing; subscription: Subscription; wanted: (typeof CHOOSABLE)[number] } | { answer: Answer };

async function readChange(visit: WorkspaceVisit): Promise<Ready> {
    const { app, fields, workspace } = visit;
    const read = readFields(fields, { plan: oneOf(CHOOSABLE) });
    if (!read.ok) return { answer: await showBilling(visit, read.problems) };
    const billing = billingOf(app);
    const subscription = await findSubscription(app.db, workspace.workspaceId);
    if (billing === undefined || subscription === undefined || !isBilled(subscription)) return { answer: { to: `${BACK}#plans` } };
    return { billing, subscription, wanted: read.values.plan };
}
