import { type EndReason, isLive, OVER, type SubscriptionFacts, UNPAID_DAYS } from '../../domain/accounts/subscription.ts';
import { ago, type Columns, columns, type Db, now, toColumns } from '../../platform/db.ts';

/** The subscription of a workspace, as of the last read from Stripe. */
export interface Subscription extends SubscriptionFacts {
    workspaceId: string;
    /** The reason if we ended it; otherwise null. */
    endedBy: EndReason | null;
}

const SUBSCRIPTION: Columns<Subscription> = {
    ...columns('', 'workspace_id subscription_id customer_id item_id status plan period_end ends_at ended_by'),
};

export async function findSubscription(db: Db, workspaceId: string): Promise<Subscription | undefined> {
    return db('subscriptions').where({ workspace_id: workspaceId }).whereNotNull('subscription_id').first(SUBSCRIPTION);
}

/** The workspace's subscription by Stripe's id, if it has been read before. */
export async function findBySubscription(db: Db, subscriptionId: string): Promise<Subscription | undefined> {
    return db('subscriptions').where({ subscription_id: subscriptionId }).first(SUBSCRIPTION);
}

/** Whether it is billed now or will be. The plan then depends only on Stripe. */
export function isBilled(subscription: Subscription | undefined): boolean {
    return subscription !== undefined && subscription.endedBy === null && isLive(subscription.status);
}

/** Begins a read of Stripe for this workspace and returns its number. Earlier reads become void. */
export async function beginRead(db: Db, workspaceId: string): Promise<number> {
    const [begun] = await db('subscriptions')
        .insert({ workspace_id: workspaceId, reads_begun: 1 })
        .onConflict('workspace_id')
        .merge({ reads_begun: db.raw('subscriptions.reads_begun + 1') })
        .returning('reads_begun');
    return begun.reads_begun;
}

/** Whether a later read was already written, so that this one is no longer needed. */
export async function isSuperseded(db: Db, workspaceId: string, number: number): Promise<boolean> {
    const later = await db('subscriptions').where({ workspace_id: workspaceId }).where('reads_applied', '>', number).first('workspace_id');
    return later !== undefined;
}

/**
 * Writes the result of a read, unless another read of this workspace began meanwhile. A workspace has one subscription. A different one
 * replaces it only if the new one is billed and the old one is not.
 * @returns `void` if another read began; otherwise whether these facts describe the workspace's subscription now.
 */
export async function writeRead(
    db: Db,
    workspaceId: string,
    number: number,
    facts: SubscriptionFacts,
): Promise<'void' | 'written' | 'not the one'> {
    const applied = await db('subscriptions')
        .where({ workspace_id: workspaceId, reads_begun: number })
        .update({ reads_applied: number, checked_at: now(db) });
    if (applied === 0) return 'void';
    const before = await findSubscription(db, workspaceId);
    const isOther = before !== undefined && before.subscriptionId !== facts.subscriptionId;
    if (isOther && (isBilled(before) || !isLive(facts.status))) return 'not the one';
    await db('subscriptions')
        .where({ workspace_id: workspaceId })
        .update({ ...toColumns(facts), ...(isOther && { ended_by: null }) });
    return 'written';
}

/** Records that we end it, and why. The first reason is kept. The next reconciliation cancels it at Stripe. */
export async function markEnded(db: Db, workspaceId: string, subscriptionId: string, reason: EndReason): Promise<void> {
    const subscription = db('subscriptions').where({ workspace_id: workspaceId, subscription_id: subscriptionId });
    await subscription.whereNull('ended_by').update({ ended_by: reason });
}

/** Marks a subscription that we ended as gone, if Stripe does not know it. */
export async function markGone(db: Db, workspaceId: string, subscriptionId: string): Promise<void> {
    const subscription = db('subscriptions').where({ workspace_id: workspaceId, subscription_id: subscriptionId });
    await subscription.whereNotNull('ended_by').update({ status: 'canceled' });
}

/** Whether the plan of a workspace currently comes from a subscription. */
export async function hasPaidPlan(db: Db, workspaceId: string): Promise<boolean> {
    return (await db('credit_accounts').where({ id: workspaceId }).whereNotNull('billing_date').first('id')) !== undefined;
}

/** Whether the subscription of a workspace has been unpaid for this many days after its billing date. */
export async function isUnpaidFor(db: Db, workspaceId: string, days: number): Promise<boolean> {
    const unpaid = db('credit_accounts')
        .where({ id: workspaceId })
        .where('billing_date', '<=', ago(db, `${days} days`));
    return (await unpaid.first('id')) !== undefined;
}

/** Raw: of several concurrent processes, each takes different rows in one statement. */
const TAKE_DUE = `
    with looked as (
        select s.workspace_id, s.checked_at, c.billing_date, s.ended_by is not null and s.status <> all (:over) as is_to_cancel
        from subscriptions s left join credit_accounts c on c.id = s.workspace_id
        where c.billing_date <= app_now() or s.ended_by is not null
    ), due as (
        select workspace_id from looked
        where (billing_date <= app_now() - interval '2 hours' and checked_at < app_now() - interval '6 hours')
           or ((billing_date <= app_now() - :days * interval '1 day' or is_to_cancel) and checked_at < app_now() - interval '1 minute')
        order by checked_at limit :limit
    ), ours as (
        select workspace_id from subscriptions
        where workspace_id in (select workspace_id from due) and checked_at < app_now() - interval '1 minute' for update skip locked
    )
    update subscriptions s set checked_at = app_now() from ours where s.workspace_id = ours.workspace_id returning s.workspace_id`;

/**
 * Claims workspaces that must be checked without an event, each for one process: those unpaid since the billing date (an event may have
 * been lost), those whose plan must end for that reason, and those with an ended subscription that is not cancelled at Stripe yet.
 */
export async function takeDue(db: Db, limit: number): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { workspace_id: string }[] }>(TAKE_DUE, { over: OVER, days: UNPAID_DAYS, limit });
    return rows.map((row) => row.workspace_id);
}
