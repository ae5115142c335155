import type { SoldPlan } from '../../domain/accounts/subscription.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, columns, type Db } from '../../platform/db.ts';

/** The checkout of a plan. Only this row defines to which workspace a subscription belongs. */
interface Checkout {
    checkoutId: string;
    workspaceId: string;
    /** The user who began it, who is also Stripe's customer. */
    userId: string;
    plan: SoldPlan;
    /** The id of Stripe's session; null until Stripe has created it. */
    sessionId: string | null;
}

const CHECKOUT: Columns<Checkout> = { checkoutId: 'id', ...columns('', 'workspace_id user_id plan session_id') };

/** Begins a checkout; undefined if the workspace already has an open one. */
export async function addCheckout(
    db: Db,
    { workspaceId, userId, plan }: { workspaceId: string; userId: string; plan: SoldPlan },
): Promise<string | undefined> {
    const [made] = await db('checkouts')
        .insert({ id: newId('chk'), workspace_id: workspaceId, user_id: userId, plan })
        .onConflict(db.raw("(workspace_id) where state = 'open'"))
        .ignore()
        .returning('id');
    return made?.id;
}

/** Records Stripe's session; false if another tab closed this checkout meanwhile. */
export async function openCheckout(db: Db, checkoutId: string, sessionId: string): Promise<boolean> {
    return (await db('checkouts').where({ id: checkoutId, state: 'open' }).update({ session_id: sessionId })) === 1;
}

/** Ends a checkout once. `done`: it was paid; `closed`: it can no longer be paid. */
export async function endCheckout(db: Db, checkoutId: string, state: 'done' | 'closed'): Promise<void> {
    await db('checkouts').where({ id: checkoutId, state: 'open' }).update({ state });
}

/** Closes a checkout without a Stripe session. The process that waits for the session learns of it from `openCheckout`. */
export async function closeUnopened(db: Db, workspaceId: string): Promise<void> {
    await db('checkouts').where({ workspace_id: workspaceId, state: 'open', session_id: null }).update({ state: 'closed' });
}

/** The open checkout of a workspace, which can still be paid. */
export async function findOpenCheckout(db: Db, workspaceId: string): Promise<Checkout | undefined> {
    return db('checkouts').where({ workspace_id: workspaceId, state: 'open' }).first(CHECKOUT);
}

export async function findCheckoutBySession(db: Db, sessionId: string): Promise<Checkout | undefined> {
    return db('checkouts').where({ session_id: sessionId }).first(CHECKOUT);
}
