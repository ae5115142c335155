import { billingOf } from '../../../shared/billing/billing.ts';
import { checkoutOrigin } from '../../../shared/billing/checkout.ts';
import { portalOrigin } from '../../../shared/billing/portal.ts';
import { figuresFor, PLANS, type Plan, planAbove } from '../../../shared/domain/accounts/plans.ts';
import { changeTo, isAbove, SOLD_PLANS } from '../../../shared/domain/accounts/subscription.ts';
import { dismissNotice, listNotices, type Notice } from '../../../shared/store/accounts/notices.ts';
import { listInvoices } from '../../../shared/store/billing/invoices.ts';
import { findSubscription, isBilled, type Subscription } from '../../../shared/store/billing/subscriptions.ts';
import { accountCap } from '../../../shared/store/credits/spending.ts';
import { keepTyped, type Problems } from '../fields.ts';
import { type Answer, BILLING_VIEWERS, MANAGERS, PAYERS, pageNotFound, type Shown, type WorkspaceVisit } from '../page.ts';

const SHOWN_INVOICES = 12;

/** Shows the plan, the next payment, and the other plans. */
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
        formsLeadTo: mayPay && billing !== undefined ? [checkoutOrigin(billing), portalOrigin(billing)] : [],
        model: {
            membership: workspace,
            problems,
            typed: keepTyped(fields),
            balance,
            figures: figuresFor(workspace.plan, balance?.overrides),
            price: PLANS[workspace.plan].priceUsd,
            subscription: billed,
            isLate: billed !== undefined && balance !== undefined && balance.resetsAt.getTime() <= app.clock.now(),
            next: nextOf(workspace.plan, billed),
            invoices,
            cap,
            // The page itself shows the failed payment.
            notices: notices.filter(({ kind }) => kind !== 'payment_failed'),
            mayPay,
            isSetUp,
            hasPortal: isSetUp && mayPay && subscription !== undefined,
            choices,
            isOperator: visit.isOperator,
            planAbove: planAbove(workspace.plan),
            contact: app.config.operatorEmails[0],
        },
    };
}

/** The plan after the current billing month, if it changes. */
function nextOf(current: Plan, subscription: Subscription | undefined): { plan: Plan; at: Date } | undefined {
    if (subscription === undefined) return undefined;
    if (subscription.endsAt !== null) return { plan: 'free', at: subscription.endsAt };
    const { plan, periodEnd } = subscription;
    return plan === null || plan === current ? undefined : { plan, at: periodEnd };
}

interface Choice {
    plan: Plan;
    figures: (typeof PLANS)[Plan];
    /** The label of the button; undefined if there is no button. */
    label: string | undefined;
    words: string;
    isCurrent: boolean;
    /** Whether the button opens a checkout. Otherwise it changes the subscription. */
    isBought: boolean;
}

function choicesFor(current: Plan, subscription: Subscription | undefined): Choice[] {
    const plans: Plan[] = ['free', ...SOLD_PLANS];
    return plans.map((plan) => ({
        plan,
        figures: PLANS[plan],
        isCurrent: plan === current,
        isBought: subscription === undefined,
        ...(subscription === undefined ? describePurchase(current, plan) : describePlanChange(subscription, current, plan)),
    }));
}

function describePurchase(current: Plan, plan: Plan): Pick<Choice, 'label' | 'words'> {
    if (plan === current) return { label: undefined, words: 'This is your plan.' };
    if (!isAbove(plan, current)) return { label: undefined, words: 'The operator set your plan. Ask them to lower it.' };
    return { label: `Get ${NAMES[plan]}`, words: 'Pay by card through Stripe. Starts immediately.' };
}

function describePlanChange(subscription: Subscription, current: Plan, plan: Plan): Pick<Choice, 'label' | 'words'> {
    const next = nextOf(current, subscription)?.plan;
    if (plan === next) return { label: undefined, words: 'Starts when your billing period ends.' };
    switch (changeTo(current, plan)) {
        case 'stay':
            return next === undefined
                ? { label: undefined, words: 'This is your plan.' }
                : { label: `Keep ${NAMES[plan]}`, words: 'Cancels the change. Nothing is charged now.' };
        case 'upgrade now':
            if (subscription.status !== 'active') return { label: undefined, words: 'Starts when the open payment succeeds.' };
            return {
                label: `Switch to ${NAMES[plan]}`,
                words: 'Starts immediately with a new billing period. The unused part of this one is credited.',
            };
        case 'downgrade at period end':
            return { label: `Switch to ${NAMES[plan]}`, words: 'When your billing period ends.' };
        case 'end at period end':
            return { label: 'Cancel subscription', words: 'When your billing period ends.' };
    }
}

export const NAMES: Readonly<Record<Plan, string>> = { free: 'Free', starter: 'Starter', pro: 'Pro', enterprise: 'Enterprise' };

/** Notices about credits, failing calls and payment. */
export function noticesOf({ app, me, workspace }: Pick<WorkspaceVisit, 'app' | 'me' | 'workspace'>): Promise<Notice[]> {
    return listNotices(app.db, {
        accountId: workspace.accountId,
        workspaceId: workspace.workspaceId,
        userId: me.userId,
        seesKeys: MANAGERS.includes(workspace.role),
        seesPlans: BILLING_VIEWERS.includes(workspace.role),
    });
}

/** Dismisses a notice. @throws Refusal NOT_FOUND if this member cannot see the notice */
export async function dismissByForm(visit: WorkspaceVisit): Promise<Answer> {
    const notice = (await noticesOf(visit)).find(({ noticeId }) => noticeId === visit.fields.get('notice'));
    if (notice === undefined) throw pageNotFound();
    await dismissNotice(visit.app.db, notice.noticeId);
    return { to: '/dashboard' };
}
