import type { App } from '../../../shared/app.ts';
import { type Billing, billingOf } from '../../../shared/billing/billing.ts';
import { beginCheckout, checkoutOrigin } from '../../../shared/billing/checkout.ts';
import { PLANS } from '../../../shared/domain/accounts/plans.ts';
import { isAbove, SOLD_PLANS, type SoldPlan } from '../../../shared/domain/accounts/subscription.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { type Membership, type SignedIn, selectWorkspace } from '../../../shared/store/accounts/user-sessions.ts';
import { findSubscription, isBilled } from '../../../shared/store/billing/subscriptions.ts';
import { isLocked, SET_UP_FACTOR } from '../authorize.ts';
import { oneOf, readFields } from '../fields.ts';
import { type Answer, PAYERS, pageNotFound, type Shown, type Visit, type WorkspaceVisit } from '../page.ts';
import { NAMES } from './show.ts';

/**
 * Shows the plans. With `plan`, which the URL in a 402 answer has, goes straight to the checkout of that plan for that workspace. Shows a
 * page with a button instead if there is a subscription already, or if the request may be a prefetch, a script or an embedded page.
 */
export async function showUpgrade(visit: Visit): Promise<Answer> {
    const plan = SOLD_PLANS.find((sold) => sold === visit.query('plan'));
    const billing = billingOf(visit.app);
    const { me } = visit;
    if (plan === undefined || billing === undefined) return plans(visit);
    if (me === undefined) return { to: `/login?next=${encodeURIComponent(visit.path)}` };
    if (me.isSuspended) throw new Refusal('FORBIDDEN', 'This account is suspended. Contact the operator of this service.');
    const membership = membershipOf(me, visit.query('workspace'));
    if (membership === undefined) return { to: '/dashboard/workspace' };
    if (isLocked(me, membership)) return SET_UP_FACTOR;
    const obstacle = obstacleFor(visit, me, membership);
    if (obstacle !== undefined) return plans(visit, obstacle);
    const isSubscribed = isBilled(await findSubscription(visit.app.db, membership.workspaceId));
    if (isSubscribed && plan === membership.plan) return plans(visit, `${membership.name} is already on ${NAMES[plan]}.`);
    if (!isSubscribed && !isAbove(plan, membership.plan)) return plans(visit, setByOperator(membership));
    if (isSubscribed || !visit.isOpenedByPerson) return offer(billing, { membership, plan, isSubscribed });
    return goToCheckout({ ...visit, me, workspace: membership }, billing, plan);
}

/** POST /upgrade: the button of that page. */
export async function beginUpgrade(visit: WorkspaceVisit): Promise<Answer> {
    const billing = billingOf(visit.app);
    const read = readFields(visit.fields, { plan: oneOf(SOLD_PLANS) });
    if (billing === undefined || !read.ok) return plans(visit);
    const obstacle = obstacleFor(visit, visit.me, visit.workspace);
    if (obstacle !== undefined) return plans(visit, obstacle);
    return goToCheckout(visit, billing, read.values.plan);
}

/** Other origins to which a form of a page may redirect, if it continues to `path`. Browsers apply the page's policy to redirects too. */
export function originsBehind(app: App, path: string): readonly string[] {
    const billing = billingOf(app);
    return billing !== undefined && /^\/upgrade\?/.test(path) ? [checkoutOrigin(billing)] : [];
}

/** Creates a checkout and redirects to it. Stripe charges nothing until the person pays there. */
async function goToCheckout(visit: WorkspaceVisit, billing: Billing, wanted: SoldPlan): Promise<Answer> {
    const { app, me, workspace } = visit;
    const wait = await takeAttempts(app.db, [['checkout by workspace', workspace.workspaceId]]);
    if (wait > 0) return { ...plans(visit, 'Too many attempts. Try again in a few minutes.'), retryAfter: wait };
    // Stripe redirects back to a page that shows the selected workspace.
    await selectWorkspace(app.db, me.sessionId, workspace.workspaceId);
    const begun = await beginCheckout(billing, {
        workspaceId: workspace.workspaceId,
        current: workspace.plan,
        wanted,
        userId: me.userId,
        email: me.email,
    });
    if (begun.ok) return redirectToStripe('checkout', begun.url, checkoutOrigin(billing));
    if (begun.why === 'subscribed') return { to: '/dashboard/billing#plans', notice: 'plan-choose-here' };
    return plans(
        visit,
        begun.why === 'busy' ? 'You just started a checkout in another window. Finish it there, or try again.' : setByOperator(workspace),
    );
}

function offer(
    billing: Billing,
    { membership, plan, isSubscribed }: { membership: Membership; plan: SoldPlan; isSubscribed: boolean },
): Shown {
    return {
        view: 'billing/offer',
        title: `${NAMES[plan]} for ${membership.name}`,
        actsIn: membership,
        formsLeadTo: [checkoutOrigin(billing)],
        model: { membership, plan, name: NAMES[plan], current: NAMES[membership.plan], figures: PLANS[plan], isSubscribed },
    };
}

/** The named workspace, or the current one. @throws Refusal NOT_FOUND if the visitor is not a member of the named one */
function membershipOf(me: SignedIn, workspaceId: string | undefined): Membership | undefined {
    if (workspaceId === undefined) return me.current;
    const membership = me.workspaces.find((one) => one.workspaceId === workspaceId);
    if (membership === undefined) throw pageNotFound();
    return membership;
}

/** Says why this person cannot buy a plan for this workspace now. Undefined if they can. */
function obstacleFor({ app }: Visit, me: SignedIn, membership: Membership): string | undefined {
    if (!PAYERS.includes(membership.role)) {
        return `Your role in ${membership.name} is ${membership.role}. Ask an owner or a member with the billing role to open this page.`;
    }
    // A person with an unconfirmed address cannot make calls, so must not pay for them.
    if (app.config.mail.smtpUrl === undefined || me.isVerified) return undefined;
    return `Confirm your email address first: open the link we sent to ${me.email}, then come back to this page.`;
}

function setByOperator(membership: Membership): string {
    return `${membership.name} is already on ${NAMES[membership.plan]}, set by the operator of this service.`;
}

function plans(visit: Visit, obstacle?: string): Shown {
    const { app, me } = visit;
    return {
        view: 'billing/plans',
        title: 'Plans',
        model: {
            plans: PLANS,
            obstacle,
            isSetUp: billingOf(app) !== undefined,
            current: me?.current?.plan,
            workspace: me?.current?.workspaceId,
            contact: app.config.operatorEmails[0],
            isOperator: visit.isOperator,
        },
    };
}

const WAYS = {
    checkout: { words: 'Your checkout is ready. You have not been charged yet.', label: 'Pay at Stripe' },
    portal: { words: 'Manage your card, address and invoices at Stripe.', label: 'Open Stripe' },
} as const;

/** Redirects to Stripe. For a custom Stripe domain it shows a page with a link instead, since our forms may not redirect there. */
export function redirectToStripe(way: keyof typeof WAYS, url: string, origin: string): Answer {
    if (new URL(url).origin === origin) return { to: url };
    return { view: 'billing/onward', title: 'Continue to Stripe', model: { ...WAYS[way], url } };
}
