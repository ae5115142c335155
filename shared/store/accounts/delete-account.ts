import type { Db } from '../../platform/db.ts';
import * as credits from '../credits/credits.ts';
import { recordChange } from './audit.ts';
import { dropFactors } from './factors.ts';
import { forgetSignIns } from './sign-ins.ts';
import { rememberAddress } from './sign-up.ts';
import { endSessions } from './user-sessions.ts';
import { forgetInAudit } from './workspace-audit.ts';

/** A workspace of a user who deletes the account. */
export interface LeftWorkspace {
    workspaceId: string;
    name: string;
    plan: string;
    isOwner: boolean;
    owners: number;
    members: number;
}

/** The workspaces of a user, with their other members. */
export async function workspacesLeft(db: Db, userId: string): Promise<LeftWorkspace[]> {
    const { rows } = await db.raw<{ rows: LeftWorkspace[] }>(
        `select w.id as "workspaceId", w.name, w.plan, m.role = 'owner' as "isOwner",
                (select count(*) from memberships o where o.workspace_id = w.id and o.role = 'owner') as owners,
                (select count(*) from memberships a where a.workspace_id = w.id) as members
         from memberships m join workspaces w on w.id = m.workspace_id where m.user_id = ? order by w.created_at, w.id`,
        [userId],
    );
    return rows;
}

/** Workspaces that would lose their only owner while they have other members: they need a new owner first. */
export function ownerless(workspaces: readonly LeftWorkspace[]): LeftWorkspace[] {
    return workspaces.filter(({ isOwner, owners, members }) => isOwner && owners === 1 && members > 1);
}

/**
 * Deletes a user: keys, sessions, memberships, the request log and whatever says who it was. What was published stays under the
 * workspace's name, and the ledger stays, with ids that belong to nobody. False where a workspace would be left without an owner.
 * The subscriptions were ended before.
 */
export async function deleteAccount(db: Db, userId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: { email: string }[] }>(
            'select email from users where id = ? and deleted_at is null for update',
            [userId],
        );
        await trx.raw(
            'select from workspaces where id in (select workspace_id from memberships where user_id = ?) order by id for update',
            [userId],
        );
        const email = rows[0]?.email;
        const workspaces = await workspacesLeft(trx, userId);
        if (email === undefined || ownerless(workspaces).length > 0) return false;
        const alone = workspaces.filter(({ members }) => members === 1).map(({ workspaceId }) => workspaceId);
        const left = (await credits.readBalance(trx, userId))?.allowance.remaining ?? 0;
        await rememberAddress(trx, userId, left);
        await endSessions(trx, userId);
        await dropFactors(trx, userId);
        await forgetSignIns(trx, userId);
        for (const table of ['api_keys', 'mail_links', 'memberships']) await trx.raw('delete from ?? where user_id = ?', [table, userId]);
        await trx.raw('delete from workspace_invitations where invited_by = ?', [userId]);
        // The requests stay, for whoever wants the same. Whom to ask is this person in a workspace of nobody else, and wherever it is
        // this address.
        await trx.raw(
            `update schema_requests set requester_contact = null
             where requester_contact is not null and (workspace_id = any(?::text[]) or lower(btrim(requester_contact)) = lower(?))`,
            [alone, email],
        );
        const others = workspaces.map(({ workspaceId }) => workspaceId).filter((workspaceId) => !alone.includes(workspaceId));
        await forgetInAudit(trx, { userId, email, alone, others });
        for (const table of ['mails', 'outgoing_mails']) await trx.raw('delete from ?? where recipient = ?', [table, email]);
        for (const table of ['usage', 'usage_hours']) await trx.raw('delete from ?? where account_id = ?', [table, userId]);
        await trx.raw(
            `update users set email = 'deleted', email_normalised = 'deleted ' || id, password_hash = null, verified_at = null,
                    invited_by = null, referral_from = null, invite_code = null, deleted_at = app_now() where id = ?`,
            [userId],
        );
        await recordChange(trx, { actor: userId, command: 'account delete', target: userId, reason: null, before: null, after: null });
        return true;
    });
}
