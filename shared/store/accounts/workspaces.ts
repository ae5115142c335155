import { PLANS } from '../../domain/accounts/plans.ts';
import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import * as credits from '../credits/credits.ts';

/** `owner` may do everything, `admin` manages members and keys, `billing` manages the plan only, `member` uses the workspace. */
export const ROLES = ['owner', 'admin', 'billing', 'member'] as const;
export type Role = (typeof ROLES)[number];

export interface Member {
    userId: string;
    email: string;
    role: Role;
    joinedAt: Date;
    /** Keys that work. */
    keys: number;
}

/** The most workspaces that a user may belong to. */
export const MOST_WORKSPACES = 20;

/** The reason why a change of members was rejected. */
export type MemberFault = 'absent' | 'last-owner' | 'not-allowed';

/** A workspace with its first owner. Its name is public (cards show it): the first one tells nothing about the address. */
export async function createWorkspace(db: Db, userId: string, name?: string): Promise<string> {
    const id = newId('wsp');
    await db.raw('insert into workspaces (id, name) values (?, ?)', [id, name ?? `workspace-${id.slice(-6).toLowerCase()}`]);
    await db.raw("insert into memberships (workspace_id, user_id, role) values (?, ?, 'owner')", [id, userId]);
    return id;
}

/** One more workspace of a user, on Free; undefined where there are too many already. */
export async function addWorkspace(db: Db, userId: string, name: string): Promise<string | undefined> {
    return db.transaction(async (trx) => {
        await trx.raw('select from users where id = ? for update', [userId]);
        const { rows } = await trx.raw<{ rows: [{ count: number }] }>('select count(*) from memberships where user_id = ?', [userId]);
        if (rows[0].count >= MOST_WORKSPACES) return undefined;
        const workspaceId = await createWorkspace(trx, userId, name);
        await credits.openAccount(trx, { id: userId, plan: 'free', planAllowance: PLANS.free.allowance });
        return workspaceId;
    });
}

/** Gives a workspace another name, which cards show at once. */
export async function renameWorkspace(db: Db, workspaceId: string, name: string): Promise<void> {
    await db.raw('update workspaces set name = ? where id = ?', [name, workspaceId]);
}

/** The members of a workspace, those of longest standing first. */
export async function listMembers(db: Db, workspaceId: string): Promise<Member[]> {
    const { rows } = await db.raw<{ rows: { user_id: string; email: string; role: Role; created_at: Date; keys: number }[] }>(
        `select m.user_id, u.email, m.role, m.created_at,
                (select count(*) from api_keys k where k.workspace_id = m.workspace_id and k.user_id = m.user_id and k.revoked_at is null
                 and (k.expires_at is null or k.expires_at > app_now())) as keys
         from memberships m join users u on u.id = m.user_id where m.workspace_id = ? order by m.created_at, m.user_id`,
        [workspaceId],
    );
    return rows.map((row) => ({ userId: row.user_id, email: row.email, role: row.role, joinedAt: row.created_at, keys: row.keys }));
}

/** Makes a user a member, or leaves the role as it is; false where the user has too many workspaces, or is gone. */
export async function join(db: Db, { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role }): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { rows: users } = await trx.raw<{ rows: unknown[] }>('select from users where id = ? and deleted_at is null for update', [
            userId,
        ]);
        const { rows } = await trx.raw<{ rows: [{ count: number }] }>('select count(*) from memberships where user_id = ?', [userId]);
        if (users.length === 0 || rows[0].count >= MOST_WORKSPACES) return false;
        await trx.raw('insert into memberships (workspace_id, user_id, role) values (?, ?, ?) on conflict do nothing', [
            workspaceId,
            userId,
            role,
        ]);
        // While the workspace is on Free, its members draw on themselves.
        await credits.openAccount(trx, { id: userId, plan: 'free', planAllowance: PLANS.free.allowance });
        return true;
    });
}

/**
 * Locks the user's row, then the workspace's row. Call it before adding anything that a workspace has a limit for. Rows are always locked
 * in this order, also by the deletion of an account.
 */
export async function lockForAdding(trx: Db, { workspaceId, userId }: { workspaceId: string; userId: string }): Promise<void> {
    await trx.raw('select from users where id = ? for key share', [userId]);
    await trx.raw('select from workspaces where id = ? for update', [workspaceId]);
}

/**
 * Changes a member's role. At least one owner stays. Only owners add or change owners. A member who gets the role `billing` loses the keys
 * made here.
 */
export async function changeRole(
    db: Db,
    order: { workspaceId: string; userId: string; role: Role; by: string },
): Promise<{ ok: true } | { ok: false; fault: MemberFault }> {
    const { workspaceId, userId, role, by } = order;
    return db.transaction(async (trx) => {
        const seats = await lockSeats(trx, workspaceId);
        const fault = changeFault(seats, { userId, by, becomes: role });
        if (fault !== undefined) return { ok: false, fault };
        await trx.raw('update memberships set role = ? where workspace_id = ? and user_id = ?', [role, workspaceId, userId]);
        if (role === 'billing') await revokeKeysOf(trx, workspaceId, userId);
        await withdrawInvitationsOf(trx, workspaceId, { userId, role });
        return { ok: true };
    });
}

/** Takes a member out, or lets one leave (`by` is the member): the keys made here are lost at once and for good. */
export async function removeMember(
    db: Db,
    order: { workspaceId: string; userId: string; by: string },
): Promise<{ ok: true } | { ok: false; fault: MemberFault }> {
    const { workspaceId, userId, by } = order;
    return db.transaction(async (trx) => {
        const seats = await lockSeats(trx, workspaceId);
        const fault = changeFault(seats, { userId, by, becomes: undefined });
        if (fault !== undefined) return { ok: false, fault };
        await trx.raw('delete from memberships where workspace_id = ? and user_id = ?', [workspaceId, userId]);
        await revokeKeysOf(trx, workspaceId, userId);
        await withdrawInvitationsOf(trx, workspaceId, { userId, role: undefined });
        return { ok: true };
    });
}

/** Locks the members of a workspace. */
async function lockSeats(db: Db, workspaceId: string): Promise<ReadonlyMap<string, Role>> {
    await db.raw('select from workspaces where id = ? for update', [workspaceId]);
    const { rows } = await db.raw<{ rows: { user_id: string; role: Role }[] }>(
        'select user_id, role from memberships where workspace_id = ?',
        [workspaceId],
    );
    return new Map(rows.map(({ user_id, role }) => [user_id, role]));
}

/** Judged by the roles as they are under the lock, not as a page showed them. */
function changeFault(
    seats: ReadonlyMap<string, Role>,
    { userId, by, becomes }: { userId: string; by: string; becomes: Role | undefined },
): MemberFault | undefined {
    const [role, actor] = [seats.get(userId), seats.get(by)];
    if (role === undefined || actor === undefined) return 'absent';
    const isLeaving = userId === by && becomes === undefined;
    if (!isLeaving && actor !== 'owner' && actor !== 'admin') return 'not-allowed';
    if (actor !== 'owner' && ((role === 'owner' && !isLeaving) || becomes === 'owner')) return 'not-allowed';
    const owners = [...seats.values()].filter((seat) => seat === 'owner').length;
    return role === 'owner' && becomes !== 'owner' && owners === 1 ? 'last-owner' : undefined;
}

async function revokeKeysOf(db: Db, workspaceId: string, userId: string): Promise<void> {
    await db.raw('update api_keys set revoked_at = app_now() where workspace_id = ? and user_id = ? and revoked_at is null', [
        workspaceId,
        userId,
    ]);
}

/** Withdraws invitations that their maker may no longer make. Otherwise a removed member could return by one. */
async function withdrawInvitationsOf(db: Db, workspaceId: string, by: { userId: string; role: Role | undefined }): Promise<void> {
    if (by.role === 'owner') return;
    const mayStay = by.role === 'admin' ? ROLES.filter((role) => role !== 'owner') : [];
    await db.raw('delete from workspace_invitations where workspace_id = ? and invited_by = ? and role <> all (?::text[])', [
        workspaceId,
        by.userId,
        mayStay,
    ]);
}
