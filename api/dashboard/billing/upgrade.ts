import { type Billing, billingOf } from '../../../shared/billing/billing.ts';
import { beginCheckout, checkoutOrigin } from '../../../shared/billing/checkout.ts';
import { PLANS } from '../../../shared/domain/plans.ts';
import { isAbove, SOLD_PLANS, type SoldPlan } from '../../../shared/domain/subscription.ts';
import { Refusal } from '../../../shared/refusals.ts';
import { takeAttempts } from '../../../shared/store/attempts.ts';
import { findSubscription, isBilled } from '../../../shared/store/subscriptions.ts';
import { lookAtWorkspace, type Seat, type SignedIn } from '../../../shared/store/web-sessions.ts';
import { oneOf, readFields } from '../fields.ts';
import { type Answer, absent, PAYERS, type Shown, type Visit, type WorkspaceVisit } from '../page.ts';
import { NAMES } from './show.ts';

/**
 * The plans; and with `plan`, where a 402 sends people, that plan for that workspace, one button before its checkout. The link itself
 * does nothing: programs follow links ahead of people.
 */
export async function showUpgrade(visit: Visit): Promise<Answer> {
    const plan = SOLD_PLANS.find((sold) => sold === visit.query('plan'));
    const billing = billingOf(visit.app);
    const { me } = visit;
    if (plan === undefined || billing === undefined) return plans(visit);
    if (me === undefined) return { to: `/login?next=${encodeURIComponent(visit.path)}` };
    if (me.isSuspended) throw new Refusal('FORBIDDEN', 'This account is suspended; write to the operator of this service.');
    const seat = seatOf(me, visit.query('workspace'));
    if (seat === undefined) return { to: '/dashboard/workspace' };
    const obstacle = obstacleFor(visit, me, seat);
    if (obstacle !== undefined) return plans(visit, obstacle);
    return offer(visit, billing, seat, plan);
}

/** POST /upgrade: begins the checkout, and leads there. */
export async function beginUpgrade(visit: WorkspaceVisit): Promise<Answer> {
    const { app, me, workspace } = visit;
    const billing = billingOf(app);
    const read = readFields(visit.fields, { plan: oneOf(SOLD_PLANS) });
    if (billing === undefined || !read.ok) return plans(visit);
    const obstacle = obstacleFor(visit, me, workspace);
    if (obstacle !== undefined) return plans(visit, obstacle);
    const wait = await takeAttempts(app.db, [['checkout by workspace', workspace.workspaceId]]);
    if (wait > 0)
        return { ...plans(visit, 'That was often in a short time. Please try again in some minutes.'), status: 429, retryAfter: wait };
    // The page that Stripe leads back to is about this workspace.
    await lookAtWorkspace(app.db, me.sessionId, workspace.workspaceId);
    const begun = await beginCheckout(billing, {
        workspaceId: workspace.workspaceId,
        current: workspace.plan,
        wanted: read.values.plan,
        userId: me.userId,
        email: me.email,
    });
    if (begun.ok) return onward(billing, begun.url);
    if (begun.why === 'subscribed') return { to: '/dashboard/billing#plans', notice: 'plan-choose-here' };
    return plans(
        visit,
        begun.why === 'busy' ? 'A checkout was just begun in another window. Finish it there, or try again.' : setByOperator(workspace),
    );
}

/** One plan for one workspace. */
async function offer(visit: Visit, billing: Billing, seat: Seat, plan: SoldPlan): Promise<Answer> {
    const subscription = await findSubscription(visit.app.db, seat.workspaceId);
    const isSubscribed = isBilled(subscription);
    if (isSubscribed && plan === seat.plan) return plans(visit, `${seat.name} is on ${NAMES[plan]} already.`);
    if (!isSubscribed && !isAbove(plan, seat.plan)) return plans(visit, setByOperator(seat));
    return {
        view: 'billing/offer',
        title: `${NAMES[plan]} for ${seat.name}`,
        actsIn: seat,
        formsLeadTo: [checkoutOrigin(billing)],
        model: { seat, plan, name: NAMES[plan], current: NAMES[seat.plan], figures: PLANS[plan], isSubscribed },
    };
}

/** Straight on to Stripe; a page in between only where Stripe shows checkouts under a name of the operator's own. */
function onward(billing: Billing, url: string): Answer {
    if (new URL(url).origin === checkoutOrigin(billing)) return { to: url };
    return { view: 'billing/onward', title: 'On to Stripe', model: { url } };
}

/** The workspace that is out of credits, or the one looked at. @throws Refusal NOT_FOUND for one that is not the visitor's */
function seatOf(me: SignedIn, workspaceId: string | undefined): Seat | undefined {
    if (workspaceId === undefined) return me.current;
    const seat = me.workspaces.find((one) => one.workspaceId === workspaceId);
    if (seat === undefined) throw absent();
    return seat;
}

/** Why this person cannot buy there now. */
function obstacleFor({ app }: Visit, me: SignedIn, seat: Seat): string | undefined {
    if (!PAYERS.includes(seat.role)) {
        return `Your role in ${seat.name} is ${seat.role}. Ask an owner, or whoever has the role billing, to open this page.`;
    }
    // Who pays has to be able to call.
    if (app.config.mail.smtpUrl === undefined || me.isVerified) return undefined;
    return `Confirm your address first: open the link that we sent to ${me.email}, then open this page again.`;
}

function setByOperator(seat: Seat): string {
    return `${seat.name} is on ${NAMES[seat.plan]} already, set by the operator of this service.`;
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
        },
    };
}
