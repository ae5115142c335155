import { readEmail } from '../../domain/accounts/email.ts';
import { PLANS, type Plan } from '../../domain/accounts/plans.ts';
import { EVERY_SCOPE, type Scopes } from '../../domain/accounts/scopes.ts';
import type { Db } from '../../platform/db.ts';
import * as credits from '../credits/credits.ts';
import { createKey, type NewKey } from './api-keys.ts';
import { ensureUser } from './users.ts';
import { createWorkspace, type Workspace } from './workspaces.ts';

export interface NewAccount {
    /** A well-formed address, see domain/email.ts; one that is known gets one more workspace. */
    email: string;
    plan: Plan;
    /** Credits that never expire, on top of the plan's allowance. */
    bonus?: number | undefined;
    /** The inviting user, who must exist; counts for a new address only. */
    invitedBy?: string | undefined;
    overrides?: credits.Overrides | undefined;
    /** Of the key; every scope where nothing is said. */
    scopes?: Scopes | undefined;
}

export interface MadeAccount extends NewKey {
    userId: string;
    workspaceId: string;
    isNewUser: boolean;
}

/**
 * Creates a verified user (or finds the one with this address), a workspace on the plan and a key. An unverified user with this address
 * loses password and keys first: another person may have signed up with it.
 */
export async function createAccount(db: Db, order: NewAccount): Promise<MadeAccount> {
    const email = readEmail(order.email);
    if (!email.ok) throw new TypeError(email.message);
    return db.transaction(async (trx) => {
        const { userId, isNewUser } = await ensureUser(trx, email, order.invitedBy);
        const workspaceId = await createWorkspace(trx, userId);
        const payer = await openFor(trx, { ...order, userId, workspaceId, isNewUser });
        if (order.bonus !== undefined && order.bonus > 0) await credits.grantBonus(trx, payer, order.bonus, 'account create');
        const key = await createKey(trx, { workspaceId, userId, name: 'default', scopes: order.scopes ?? EVERY_SCOPE });
        return { userId, workspaceId, isNewUser, ...key };
    });
}

/** Puts a workspace on a plan, with these overrides and no others; returns who pays from now on, undefined for an unknown one. */
export async function setPlan(db: Db, workspaceId: string, plan: Plan, overrides: credits.Overrides): Promise<string | undefined> {
    return credits.changePlan(db, workspaceId, { plan, planAllowance: PLANS[plan].allowance, overrides });
}

/** Gives the account that pays for a workspace bonus credits; resolves with what it can spend then. */
export async function grantCredits(db: Db, workspace: Workspace, amount: number): Promise<number> {
    const available = await credits.grantBonus(db, workspace.accountId, amount, 'credits grant');
    if (available === undefined) throw new Error(`account ${workspace.accountId} does not exist`);
    return available;
}

/**
 * Opens the accounts of a new workspace; returns the one that pays. A new user who pays from the start takes along what the
 * user earns later; a known user's bonus stays where it is.
 */
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
