import { PLANS, type Plan } from '../../domain/accounts/plans.ts';
import { ROLES, type Role } from '../../domain/accounts/roles.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, countRows, type Db, now } from '../../platform/db.ts';
import { Refusal } from '../../refusals.ts';
import { dropConnectionsOf } from '../connections/connections.ts';
import * as credits from '../credits/accounts.ts';
import { disableWebhooksOf } from '../events/disable-webhooks.ts';
import { revokeKeys } from './revoke-keys.ts';

export interface Workspace {
    workspaceId: string;
    name: string;
    plan: Plan;
    ownerId: string;
    /** The account that pays for the owner's calls in this workspace. */
    accountId: string;
}

export interface Member {
    userId: string;
    email: string;
    role: Role;
    joinedAt: Date;
    keys: number;
}

/** Maximum number of workspaces that a user may belong to. */
export const MAX_WORKSPACES = 20;

/** Why a change of members was rejected. */
export type MemberFault = 'absent' | 'last-owner' | 'not-allowed';

/** Inserts a workspace and its first owner. Its name is public (on cards), so the default name reveals nothing about the address. */
export async function insertWorkspace(db: Db, userId: string, name?: string): Promise<string> {
    const id = newId('wsp');
    await db('workspaces').insert({ id, name: name ?? `workspace-${id.slice(-6).toLowerCase()}` });
    await db('memberships').insert({ workspace_id: id, user_id: userId, role: 'owner' });
    return id;
}

/** Creates a workspace on Free for a user; undefined if the user already has too many. */
export async function createWorkspace(db: Db, userId: string, name: string): Promise<string | undefined> {
    return db.transaction(async (trx) => {
        if (!(await lockForJoining(trx, userId))) return undefined;
        const workspaceId = await insertWorkspace(trx, userId, name);
        await credits.openAccount(trx, { id: userId, plan: 'free', planAllowance: PLANS.free.allowance });
        return workspaceId;
    });
}

/** A workspace with its first owner. */
export async function findWorkspace(db: Db, workspaceId: string): Promise<Workspace | undefined> {
    const row: Omit<Workspace, 'accountId'> | undefined = await db('workspaces as w')
        .join('memberships as m', 'm.workspace_id', 'w.id')
        .where({ 'w.id': workspaceId, 'm.role': 'owner' })
        .orderBy(['m.created_at', 'm.user_id'])
        .first({ workspaceId: 'w.id', name: 'w.name', plan: 'w.plan', ownerId: 'm.user_id' });
    return row && { ...row, accountId: credits.payerOf(row.plan, row.workspaceId, row.ownerId) };
}

/** Renames a workspace. Cards show the new name immediately. */
export async function renameWorkspace(db: Db, workspaceId: string, name: string): Promise<void> {
    await db('workspaces').where({ id: workspaceId }).update({ name });
}

/** The members of a workspace, in the order in which they joined. */
export async function listMembers(db: Db, workspaceId: string): Promise<Member[]> {
    const keys = db('api_keys as k')
        .whereRaw('k.workspace_id = m.workspace_id and k.user_id = m.user_id and k.revoked_at is null')
        .where((is) => is.whereNull('k.expires_at').orWhere('k.expires_at', '>', now(db)))
        .count();
    const columns: Columns<Member> = { userId: 'm.user_id', email: 'u.email', role: 'm.role', joinedAt: 'm.created_at', keys };
    return db('memberships as m')
        .join('users as u', 'u.id', 'm.user_id')
        .where({ 'm.workspace_id': workspaceId })
        .orderBy(['m.created_at', 'm.user_id'])
        .select(columns);
}

export async function roleOf(db: Db, workspaceId: string, userId: string): Promise<Role | undefined> {
    const membership = await db('memberships').where({ workspace_id: workspaceId, user_id: userId }).first('role');
    return membership?.role;
}

/** Makes a user a member. Does not change the role of an existing member. False if the user has too many workspaces or was deleted. */
export async function addMember(
    db: Db,
    { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role },
): Promise<boolean> {
    return db.transaction(async (trx) => {
        if (!(await lockForJoining(trx, userId))) return false;
        await trx('memberships').insert({ workspace_id: workspaceId, user_id: userId, role }).onConflict().ignore();
        // While the workspace is on Free, its members use their own credits.
        await credits.openAccount(trx, { id: userId, plan: 'free', planAllowance: PLANS.free.allowance });
        return true;
    });
}

/** Locks a user. Returns whether the user exists and may belong to another workspace. */
async function lockForJoining(trx: Db, userId: string): Promise<boolean> {
    const user = await trx('users').where({ id: userId, deleted_at: null }).forUpdate().first('id');
    return user !== undefined && (await countRows(trx('memberships').where({ user_id: userId }))) < MAX_WORKSPACES;
}

/** Call it before adding anything that is limited per workspace. Lock order: user, then workspace; account deletion does the same. */
export async function lockForAdding(trx: Db, { workspaceId, userId }: { workspaceId: string; userId: string }): Promise<void> {
    await trx('users').where({ id: userId }).forKeyShare().select('id');
    await lockWorkspace(trx, workspaceId);
}

/** Like `lockForAdding`, and checks that the user may hold keys in the workspace. @throws Refusal FORBIDDEN */
export async function lockAsKeyHolder(trx: Db, order: { workspaceId: string; userId: string }): Promise<void> {
    await lockForAdding(trx, order);
    const role = await roleOf(trx, order.workspaceId, order.userId);
    if (role === undefined) throw new Refusal('FORBIDDEN', 'You are no longer a member of this workspace.');
    if (role === 'billing')
        throw new Refusal('FORBIDDEN', 'With the role billing you cannot have keys, apps or webhooks. Ask an owner for another role.');
}

/** Locks a workspace, and so its members and its plan, until the end of the transaction. */
export async function lockWorkspace(trx: Db, workspaceId: string): Promise<void> {
    await trx('workspaces').where({ id: workspaceId }).forUpdate().select('id');
}

interface MemberChange {
    workspaceId: string;
    userId: string;
    by: string;
}

type MemberChanged = { ok: true } | { ok: false; fault: MemberFault };

/** At least one owner must remain, and only owners make or change owners. `billing` loses the same access as a removed member. */
export async function changeRole(db: Db, order: MemberChange & { role: Role }): Promise<MemberChanged> {
    return changeMember(db, order, order.role);
}

/**
 * Removes a member, or lets `by` leave. Revokes their keys in the workspace, disables their webhooks, deletes their private connections and
 * withdraws their invitations.
 */
export async function removeMember(db: Db, order: MemberChange): Promise<MemberChanged> {
    return changeMember(db, order, undefined);
}

async function changeMember(db: Db, { workspaceId, userId, by }: MemberChange, role: Role | undefined): Promise<MemberChanged> {
    return db.transaction(async (trx) => {
        await lockWorkspace(trx, workspaceId);
        const members: { user_id: string; role: Role }[] = await trx('memberships')
            .where({ workspace_id: workspaceId })
            .select('user_id', 'role');
        const fault = changeFault(new Map(members.map((one) => [one.user_id, one.role])), { userId, by, becomes: role });
        if (fault !== undefined) return { ok: false, fault };
        const ofMember = { workspace_id: workspaceId, user_id: userId };
        if (role === undefined) await trx('memberships').where(ofMember).delete();
        else await trx('memberships').where(ofMember).update({ role });
        if (role === undefined || role === 'billing') {
            await revokeKeys(trx, (keys) => keys.where(ofMember), 'member');
            await dropConnectionsOf(trx, { userId, workspaceId });
            await disableWebhooksOf(trx, userId, [workspaceId]);
        }
        await withdrawInvitationsOf(trx, workspaceId, userId, role);
        return { ok: true };
    });
}

/** Checks the roles under the lock, because a page may have shown older ones. */
function changeFault(
    roles: ReadonlyMap<string, Role>,
    { userId, by, becomes }: { userId: string; by: string; becomes: Role | undefined },
): MemberFault | undefined {
    const [role, actor] = [roles.get(userId), roles.get(by)];
    if (role === undefined || actor === undefined) return 'absent';
    const isLeaving = userId === by && becomes === undefined;
    if (!isLeaving && actor !== 'owner' && actor !== 'admin') return 'not-allowed';
    if (actor !== 'owner' && ((role === 'owner' && !isLeaving) || becomes === 'owner')) return 'not-allowed';
    const owners = [...roles.values()].filter((one) => one === 'owner').length;
    return role === 'owner' && becomes !== 'owner' && owners === 1 ? 'last-owner' : undefined;
}

/** Withdraws invitations that their creator may no longer create. Otherwise a removed member could use one to return. */
async function withdrawInvitationsOf(db: Db, workspaceId: string, userId: string, role: Role | undefined): Promise<void> {
    if (role === 'owner') return;
    const mayStay = role === 'admin' ? ROLES.filter((one) => one !== 'owner') : [];
    await db('workspace_invitations').where({ workspace_id: workspaceId, invited_by: userId }).whereNotIn('role', mayStay).delete();
}
