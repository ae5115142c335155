import { type EndReason, isLive, OVER, type SoldPlan, type SubscriptionFacts, UNPAID_DAYS } from '../../domain/accounts/subscription.ts';
import type { Db } from '../../platform/db.ts';

/** The subscription of a workspace, as of the last read from Stripe. */
export interface Subscription extends SubscriptionFacts {
    workspaceId: string;
    /** The reason why we ended it, if we did. */
    endedBy: EndReason | undefined;
}

/** The subscription of a workspace; undefined where it never had one. */
export async function findSubscription(db: Db, workspaceId: string): Promise<Subscription | undefined> {
    return find(db, 'workspace_id = ?', workspaceId);
}

/** The workspace behind one of Stripe's subscriptions, as far as it was read before. */
export async function findBySubscription(db: Db, subscriptionId: string): Promise<Subscription | undefined> {
    return find(db, 'subscription_id = ?', subscriptionId);
}

/** Whether it bills or will. Then the plan follows from Stripe only. */
export function isBilled(subscription: Subscription | undefined): boolean {
    return subscription !== undefined && subscription.endedBy === undefined && isLive(subscription.status);
}

/** Begins a read of Stripe for this workspace and returns its number. Earlier reads are void from now on. */
export async function beginRead(db: Db, workspaceId: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ number: number }] }>(
        `insert into subscriptions as s (workspace_id, reads_begun) values (?, 1)
         on conflict (workspace_id) do update set reads_begun = s.reads_begun + 1 returning reads_begun as number`,
        [workspaceId],
    );
    return rows[0].number;
}

/** Whether a later read was already written, so that this one is done. */
export async function isOvertaken(db: Db, workspaceId: string, number: number): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from subscriptions where workspace_id = ? and reads_applied > ?', [
        workspaceId,
        number,
    ]);
    return rows.length > 0;
}

/**
 * Writes the result of a read, unless another read of this workspace began meanwhile. A workspace has one subscription. Another one
 * replaces it only where the new one bills and the old one does not.
 * @returns `void` where another read began; otherwise whether these facts are the workspace's subscription now.
 */
export async function writeRead(
    db: Db,
    workspaceId: string,
    number: number,
    facts: SubscriptionFacts,
): Promise<'void' | 'written' | 'not the one'> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        'update subscriptions set reads_applied = :number, checked_at = app_now() where workspace_id = :workspaceId and reads_begun = :number',
        { workspaceId, number },
    );
    if (rowCount === 0) return 'void';
    const before = await findSubscription(db, workspaceId);
    const isOther = before !== undefined && before.subscriptionId !== facts.subscriptionId;
    if (isOther && (isBilled(before) || !isLive(facts.status))) return 'not the one';
    await db.raw(
        `update subscriptions set customer_id = :customerId, subscription_id = :subscriptionId, item_id = :itemId, status = :status,
                plan = :plan, period_end = :periodEnd, ends_at = :endsAt,
                ended_by = case when subscription_id = :subscriptionId then ended_by end
         where workspace_id = :workspaceId`,
        { ...facts, plan: facts.plan ?? null, endsAt: facts.endsAt ?? null, workspaceId },
    );
    return 'written';
}

/** Records that we end it, and why. The first reason stays. The next reconciliation cancels it at Stripe. */
export async function markEnded(db: Db, workspaceId: string, subscriptionId: string, reason: EndReason): Promise<void> {
    await db.raw('update subscriptions set ended_by = coalesce(ended_by, ?) where workspace_id = ? and subscription_id = ?', [
        reason,
        workspaceId,
        subscriptionId,
    ]);
}

/** Marks a subscription that we ended as gone, where Stripe does not know it. */
export async function markGone(db: Db, workspaceId: string, subscriptionId: string): Promise<void> {
    await db.raw("update subscriptions set status = 'canceled' where workspace_id = ? and subscription_id = ? and ended_by is not null", [
        workspaceId,
        subscriptionId,
    ]);
}

/** Whether the plan of a workspace comes from a subscription now. */
export async function hasPaidPlan(db: Db, workspaceId: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from credit_accounts where id = ? and billing_date is not null', [
        workspaceId,
    ]);
    return rows.length > 0;
}

/** Whether a workspace's subscription is unpaid for this many days after its billing date. */
export async function isUnpaidFor(db: Db, workspaceId: string, days: number): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>(
        "select from credit_accounts where id = ? and billing_date <= app_now() - ? * interval '1 day'",
        [workspaceId, days],
    );
    return rows.length > 0;
}

/**
 * Claims workspaces that need a look without an event, each for one process: unpaid since the billing date (an event may be lost), a plan
 * that must end for that, or an ended subscription that is not cancelled at Stripe yet.
 */
export async function takeDue(db: Db, limit: number): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { workspace_id: string }[] }>(
        `with looked as (
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
         update subscriptions s set checked_at = app_now() from ours where s.workspace_id = ours.workspace_id returning s.workspace_id`,
        { over: OVER, days: UNPAID_DAYS, limit },
    );
    return rows.map((row) => row.workspace_id);
}

async function find(db: Db, condition: string, value: string): Promise<Subscription | undefined> {
    const { rows } = await db.raw<{ rows: Row[] }>(`select * from subscriptions where subscription_id is not null and ${condition}`, [
        value,
    ]);
    const row = rows[0];
    return (
        row && {
            workspaceId: row.workspace_id,
            subscriptionId: row.subscription_id,
            customerId: row.customer_id,
            itemId: row.item_id,
            status: row.status,
            plan: row.plan ?? undefined,
            periodEnd: row.period_end,
            endsAt: row.ends_at ?? undefined,
            endedBy: row.ended_by ?? undefined,
        }
    );
}

interface Row {
    workspace_id: string;
    subscription_id: string;
    customer_id: string;
    item_id: string;
    status: string;
    plan: SoldPlan | null;
    period_end: Date;
    ends_at: Date | null;
    ended_by: EndReason | null;
}
