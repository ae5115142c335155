import { readEmail } from '../../domain/accounts/email.ts';
import { type LimitOverrides, PLANS, type Plan } from '../../domain/accounts/plans.ts';
import { EVERY_SCOPE, type Scopes } from '../../domain/accounts/scopes.ts';
import type { Db } from '../../platform/db.ts';
import * as credits from '../credits/accounts.ts';
import { grantBonus } from '../credits/bonuses.ts';
import { createKey, type NewKey } from './api-keys.ts';
import { ensureUser } from './users.ts';
import { insertWorkspace, type Workspace } from './workspaces.ts';

export interface NewAccount {
    /** A well-formed address, see domain/accounts/email.ts. The owner of a known address gets an additional workspace. */
    email: string;
    plan: Plan;
    /** Credits that never expire, in addition to the allowance of the plan. */
    bonus?: number | undefined;
    /** The user who sent the invitation and who must exist. It counts only for a new address. */
    invitedBy?: string | undefined;
    overrides?: LimitOverrides | undefined;
    /** Scopes of the key; absent: all scopes. */
    scopes?: Scopes | undefined;
}

export interface MadeAccount extends NewKey {
    userId: string;
    workspaceId: string;
    isNewUser: boolean;
}

/** A verified user, a workspace and a key. An unverified user of the address, maybe another person, loses password and keys. */
export async function createAccount(db: Db, order: NewAccount): Promise<MadeAccount> {
    const email = readEmail(order.email);
    if (!email.ok) throw new TypeError(email.message);
    return db.transaction(async (trx) => {
        const { userId, isNewUser } = await ensureUser(trx, email, order.invitedBy);
        const workspaceId = await insertWorkspace(trx, userId);
        const payer = await openFor(trx, { ...order, userId, workspaceId, isNewUser });
        if (order.bonus !== undefined && order.bonus > 0) await grantBonus(trx, payer, order.bonus, 'account create');
        const key = await createKey(trx, { workspaceId, userId, name: 'default', scopes: order.scopes ?? EVERY_SCOPE });
        return { userId, workspaceId, isNewUser, ...key };
    });
}

/** Puts a workspace on a plan, with exactly these overrides. Returns the id of the paying account; undefined for an unknown workspace. */
export async function setPlan(db: Db, workspaceId: string, plan: Plan, overrides: LimitOverrides): Promise<string | undefined> {
    return credits.changePlan(db, workspaceId, { plan, planAllowance: PLANS[plan].allowance, overrides });
}

/** Grants bonus credits to the account that pays for a workspace. Resolves with its available credits afterwards. */
export async function grantCredits(db: Db, workspace: Workspace, amount: number): Promise<number> {
    const available = await grantBonus(db, workspace.accountId, amount, 'credits grant');
    if (available === undefined) throw new Error(`account ${workspace.accountId} does not exist`);
    return available;
}

/** Returns the paying account. If a new user pays from the start, later bonuses go to the workspace; a known user's do not move. */
async function openFor(
    db: Db,
    { userId, workspaceId, isNewUser, plan, overrides }: NewAccount & { userId: string; workspaceId: string; isNewUser: boolean },
): Promise<string> {
    const free = { plan: 'free', planAllowance: PLANS.free.allowance } as const;
    if (plan === 'free') {
        await credits.openAccount(db, { id: userId, ...free });
        if (overrides !== undefined) await credits.setLimits(db, userId, { ...free, overrides });
        return userId;
    }
    const paid = { plan, planAllowance: PLANS[plan].allowance, ...(overrides && { overrides }) };
    if (isNewUser) {
        await credits.openAccount(db, { id: userId, ...free });
        await credits.changePlan(db, workspaceId, paid);
        return workspaceId;
    }
    await db('workspaces').where({ id: workspaceId }).update({ plan });
    await credits.openAccount(db, { id: workspaceId, ...paid });
    return workspaceId;
}
