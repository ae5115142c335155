import { PLAN_NAMES, type Plan } from './plans.ts';

/** The plans that are billed through Stripe. */
export const SOLD_PLANS = ['starter', 'pro'] as const;
export type SoldPlan = (typeof SOLD_PLANS)[number];

/** Why we ended a subscription ourselves. */
export type EndReason = 'refund' | 'dispute' | 'unpaid' | 'deletion';

export interface SubscriptionFacts {
    subscriptionId: string;
    customerId: string;
    /** The item whose price belongs to one of our plans; otherwise the first item. */
    itemId: string;
    status: string;
    /** The plan of its current price, for which the next invoice will be. Null if the price does not belong to a plan. */
    plan: SoldPlan | null;
    periodEnd: Date;
    /** When it ends, if it was cancelled as of the end of a period. */
    endsAt: Date | null;
}

export interface PaidInvoice {
    invoiceId: string;
    subscriptionId: string;
    plan: SoldPlan;
    from: Date;
    until: Date;
    number: string | null;
    amountCents: number;
    currency: string;
    /** The page at Stripe. */
    link: string | null;
    paidAt: Date;
}

/** The relevant fields of an invoice line. Amounts in cents. */
export interface InvoiceLine {
    plan: SoldPlan | undefined;
    from: Date;
    until: Date;
    /** A proration: the unused part of the old plan, or the rest of the new one. */
    isProration: boolean;
    amountCents: number;
}

/** The effect of a subscription's state on the plan of its workspace. */
type Verdict = 'begin period' | 'end plan' | 'leave';

/** The plan ends this many days after an unpaid billing date. */
export const UNPAID_DAYS = 7;

export const OVER: readonly string[] = ['canceled', 'incomplete_expired'];
const LIVE: readonly string[] = ['active', 'trialing', 'past_due', 'unpaid'];

/** Whether the subscription has ended permanently and nothing more is billed. */
export function isOver(status: string): boolean {
    return OVER.includes(status);
}

/** Whether Stripe bills the subscription: not while its first payment is `incomplete`, nor while it is `paused` after a trial. */
export function isLive(status: string): boolean {
    return LIVE.includes(status);
}

export function isPaymentDue(status: string): boolean {
    return status === 'past_due' || status === 'unpaid';
}

/**
 * Decides by stored rows alone, so that the order in which Stripe's events arrive does not matter.
 * @param hasPaidPlan whether the workspace's current plan comes from a subscription
 * @param newest the paid invoice of the latest period
 */
export function checkSubscription(
    { status, endedBy }: { status: string; endedBy: EndReason | null },
    newest: { isGranted: boolean; isRefunded: boolean } | undefined,
    hasPaidPlan: boolean,
): Verdict {
    if (endedBy !== null || isOver(status) || status === 'paused') return hasPaidPlan ? 'end plan' : 'leave';
    if (!isLive(status) || newest === undefined) return 'leave';
    return newest.isGranted || newest.isRefunded ? 'leave' : 'begin period';
}

/** The invoice line of the paid period: of our plans, the one that ends last; then a full period before a proration, then the higher plan. */
export function periodLine(lines: readonly InvoiceLine[]): (InvoiceLine & { plan: SoldPlan }) | undefined {
    return lines
        .filter((line): line is InvoiceLine & { plan: SoldPlan } => line.plan !== undefined && line.amountCents >= 0)
        .toSorted(
            (one, other) =>
                other.until.getTime() - one.until.getTime() ||
                Number(one.isProration) - Number(other.isProration) ||
                rank(other.plan) - rank(one.plan),
        )[0];
}

/** The effect of choosing another plan during a subscription. */
type Change = 'upgrade now' | 'downgrade at period end' | 'end at period end' | 'stay';

/** @param current the plan of the period that was paid for last */
export function changeTo(current: Plan, wanted: Plan): Change {
    if (wanted === current) return 'stay';
    if (wanted === 'free') return 'end at period end';
    return isAbove(wanted, current) ? 'upgrade now' : 'downgrade at period end';
}

/** Whether a plan costs more than another. */
export function isAbove(plan: Plan, other: Plan): boolean {
    return rank(plan) > rank(other);
}

function rank(plan: Plan): number {
    return PLAN_NAMES.indexOf(plan);
}
