import { billingOf } from '../../../shared/billing/billing.ts';
import { checkoutOrigin } from '../../../shared/billing/checkout.ts';
import { portalOrigin } from '../../../shared/billing/portal.ts';
import { figuresFor, PLANS, type Plan } from '../../../shared/domain/plans.ts';
import { changeTo, isAbove, SOLD_PLANS } from '../../../shared/domain/subscription.ts';
import { listInvoices } from '../../../shared/store/invoices.ts';
import { accountCap } from '../../../shared/store/spending.ts';
import { findSubscription, isBilled, type Subscription } from '../../../shared/store/subscriptions.ts';
import { type Problems, typed } from '../fields.ts';
import { PAYERS, type Shown, type WorkspaceVisit } from '../page.ts';
import { noticesOf } from './notices.ts';

const SHOWN_INVOICES = 12;

/** What a workspace pays, when, and what it may pay instead. */
export async function showBilling(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const { app, workspace, fields } = visit;
    const [balance, subscription, invoices, cap, notices] = await Promise.all([
        app.credits.balance(workspace.accountId),
        findSubscription(app.db, workspace.workspaceId),
        listInvoices(app.db, workspace.workspaceId, SHOWN_INVOICES),
        accountCap(app.db, workspace.accountId),
        noticesOf(visit),
    ]);
    const mayPay = PAYERS.includes(workspace.role);
    const billing = billingOf(app);
    const isSetUp = billing !== undefined;
    const billed = isBilled(subscription) ? subscription : undefined;
    const choices = mayPay && isSetUp ? choicesFor(workspace.plan, billed) : [];
    return {
        view: 'billing/billing',
        title: 'Billing',
        status: Object.keys(problems).length === 0 ? 200 : 422,
        formsLeadTo: mayPay && billing !== undefined ? [checkoutOrigin(billing), portalOrigin(billing)] : [],
        model: {
            seat: workspace,
            problems,
            typed: typed(fields),
            balance,
            figures: figuresFor(workspace.plan, balance?.overrides),
            price: PLANS[workspace.plan].priceUsd,
            subscription: billed,
            isLate: billed !== undefined && balance !== undefined && balance.resetsAt.getTime() <= app.clock.now(),
            next: nextOf(workspace.plan, billed),
            invoices,
            cap,
            // What the page itself says below is not said twice.
            notices: notices.filter(({ kind }) => kind !== 'payment_failed'),
            mayPay,
            isSetUp,
            hasPortal: isSetUp && mayPay && subscription !== undefined,
            choices,
            contact: app.config.operatorEmails[0],
        },
    };
}

/** What comes after the month that was paid for. */
function nextOf(current: Plan, subscription: Subscription | undefined): { plan: Plan; at: Date } | undefined {
    if (subscription === undefined) return undefined;
    if (subscription.endsAt !== undefined) return { plan: 'free', at: subscription.endsAt };
    const { plan, periodEnd } = subscription;
    return plan === undefined || plan === current ? undefined : { plan, at: periodEnd };
}

interface Choice {
    plan: Plan;
    figures: (typeof PLANS)[Plan];
    /** Of the button; undefined where there is nothing to press. */
    label: string | undefined;
    words: string;
    isCurrent: boolean;
    /** It leads to a checkout; otherwise the subscription is changed. */
    isBought: boolean;
}

function choicesFor(current: Plan, subscription: Subscription | undefined): Choice[] {
    const plans: Plan[] = ['free', ...SOLD_PLANS];
    return plans.map((plan) => ({
        plan,
        figures: PLANS[plan],
        isCurrent: plan === current,
        isBought: subscription === undefined,
        ...(subscription === undefined ? toBuy(current, plan) : toChange(subscription, current, plan)),
    }));
}

function toBuy(current: Plan, plan: Plan): Pick<Choice, 'label' | 'words'> {
    if (plan === current) return { label: undefined, words: 'This is your plan.' };
    if (!isAbove(plan, current)) return { label: undefined, words: 'Your plan was set by the operator; ask them for a smaller one.' };
    return { label: `Get ${NAMES[plan]}`, words: 'Paid by card at Stripe. It holds at once, and a month begins.' };
}

function toChange(subscription: Subscription, current: Plan, plan: Plan): Pick<Choice, 'label' | 'words'> {
    const next = nextOf(current, subscription)?.plan;
    if (plan === next) return { label: undefined, words: 'Chosen for when this month ends.' };
    switch (changeTo(current, plan)) {
        case 'stay':
            return next === undefined
                ? { label: undefined, words: 'This is your plan.' }
                : { label: `Keep ${NAMES[plan]}`, words: 'Takes the change back; nothing is charged now.' };
        case 'upgrade now':
            if (subscription.status !== 'active') return { label: undefined, words: 'As soon as the open payment is through.' };
            return { label: `Change to ${NAMES[plan]}`, words: 'At once: a new month begins, and what is left of this one is credited.' };
        case 'downgrade at period end':
            return { label: `Change to ${NAMES[plan]}`, words: 'When this month ends; until then everything stays.' };
        case 'end at period end':
            return { label: 'End the subscription', words: 'When this month ends; until then everything stays.' };
    }
}

export const NAMES: Readonly<Record<Plan, string>> = { free: 'Free', starter: 'Starter', pro: 'Pro', enterprise: 'Enterprise' };
