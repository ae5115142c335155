import type { SoldPlan } from '../../domain/accounts/subscription.ts';
import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';

/** A checkout of a plan. Only our row says which workspace a subscription belongs to. */
export interface Checkout {
    checkoutId: string;
    workspaceId: string;
    /** The user who began it, and Stripe's customer. */
    userId: string;
    plan: SoldPlan;
    /** Stripe's; undefined until it has made one. */
    sessionId: string | undefined;
}

/** Begins a checkout; undefined where the workspace has one that is open. */
export async function addCheckout(
    db: Db,
    { workspaceId, userId, plan }: { workspaceId: string; userId: string; plan: SoldPlan },
): Promise<string | undefined> {
    const { rows } = await db.raw<{ rows: { id: string }[] }>(
        `insert into checkouts (id, workspace_id, user_id, plan) values (?, ?, ?, ?)
         on conflict (workspace_id) where state = 'open' do nothing returning id`,
        [newId('chk'), workspaceId, userId, plan],
    );
    return rows[0]?.id;
}

/** Records Stripe's session; false where another tab closed this checkout meanwhile. */
export async function openCheckout(db: Db, checkoutId: string, sessionId: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>("update checkouts set session_id = ? where id = ? and state = 'open'", [
        sessionId,
        checkoutId,
    ]);
    return rowCount === 1;
}

/** Ends a checkout once. `done`: it was paid; `closed`: it can no longer be paid. */
export async function endCheckout(db: Db, checkoutId: string, state: 'done' | 'closed'): Promise<void> {
    await db.raw("update checkouts set state = ? where id = ? and state = 'open'", [state, checkoutId]);
}

/** Closes a checkout without a Stripe session. The process that waits for the session learns of it from `openCheckout`. */
export async function closeUnopened(db: Db, workspaceId: string): Promise<void> {
    await db.raw("update checkouts set state = 'closed' where workspace_id = ? and state = 'open' and session_id is null", [workspaceId]);
}

/** The checkout of a workspace that can still be paid. */
export async function findOpenCheckout(db: Db, workspaceId: string): Promise<Checkout | undefined> {
    return findCheckout(db, "workspace_id = ? and state = 'open'", workspaceId);
}

/** The checkout behind one of Stripe's sessions. */
export async function findCheckoutBySession(db: Db, sessionId: string): Promise<Checkout | undefined> {
    return findCheckout(db, 'session_id = ?', sessionId);
}

async function findCheckout(db: Db, condition: string, value: string): Promise<Checkout | undefined> {
    const { rows } = await db.raw<{
        rows: { id: string; workspace_id: string; user_id: string; plan: SoldPlan; session_id: string | null }[];
    }>(`select id, workspace_id, user_id, plan, session_id from checkouts where ${condition}`, [value]);
    const row = rows[0];
    return (
        row && {
            checkoutId: row.id,
            workspaceId: row.workspace_id,
            userId: row.user_id,
            plan: row.plan,
            sessionId: row.session_id ?? undefined,
        }
    );
}
