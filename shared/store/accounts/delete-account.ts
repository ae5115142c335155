import { type Columns, type Db, now } from '../../platform/db.ts';
import { dropConnectionsOf, dropConnectionsOfEmptied } from '../connections/connections.ts';
import * as credits from '../credits/accounts.ts';
import { disableWebhooksOf } from '../events/disable-webhooks.ts';
import { disableWebhooksOfEmptied } from '../events/webhooks.ts';
import { recordChange } from './audit.ts';
import { dropFactors } from './factors.ts';
import { revokeKeys } from './revoke-keys.ts';
import { forgetSignIns } from './sign-ins.ts';
import { rememberAddress } from './sign-up.ts';
import { endSessions } from './user-sessions.ts';
import { forgetInAudit } from './workspace-audit.ts';

export interface LeftWorkspace {
    workspaceId: string;
    name: string;
    plan: string;
    isOwner: boolean;
    owners: number;
    members: number;
}

export async function workspacesLeft(db: Db, userId: string): Promise<LeftWorkspace[]> {
    const members = () => db('memberships as o').whereRaw('o.workspace_id = w.id').count();
    const columns: Columns<LeftWorkspace> = {
        workspaceId: 'w.id',
        name: 'w.name',
        plan: 'w.plan',
        isOwner: db.raw("m.role = 'owner'"),
        owners: members().where({ 'o.role': 'owner' }),
        members: members(),
    };
    return db('memberships as m')
        .join('workspaces as w', 'w.id', 'm.workspace_id')
        .where({ 'm.user_id': userId })
        .orderBy(['w.created_at', 'w.id'])
        .select(columns);
}

/** Workspaces that would lose their only owner while they have other members. They need a new owner first. */
export function workspacesNeedingOwner(workspaces: readonly LeftWorkspace[]): LeftWorkspace[] {
    return workspaces.filter(({ isOwner, owners, members }) => isOwner && owners === 1 && members > 1);
}

/** Workspaces that nobody would be left in. */
function emptied(workspaces: readonly LeftWorkspace[]): LeftWorkspace[] {
    return workspaces.filter(({ members }) => members === 1);
}

/**
 * Deletes a user: keys, sessions, memberships and all personal data. Published packages stay under the name of the workspace. The ledger
 * stays, with ids that no longer belong to a person. Workers delete what may be millions of rows (delete-rests.ts), since this locks rows
 * that other accounts wait for. Call it after the subscriptions have been ended. False if another member has joined or left since: a
 * workspace would be left without an owner, or empty with a plan.
 */
export async function deleteAccount(db: Db, userId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const user = await trx('users').where({ id: userId, deleted_at: null }).forUpdate().first('email');
        const own = trx('memberships').where({ user_id: userId }).select('workspace_id');
        await trx('workspaces').whereIn('id', own).orderBy('id').forUpdate().select('id');
        const workspaces = await workspacesLeft(trx, userId);
        if (user === undefined || workspacesNeedingOwner(workspaces).length > 0) return false;
        if (emptied(workspaces).some(({ plan }) => plan !== 'free')) return false;
        const email: string = user.email;
        const alone = emptied(workspaces).map(({ workspaceId }) => workspaceId);
        const others = workspaces.map(({ workspaceId }) => workspaceId).filter((workspaceId) => !alone.includes(workspaceId));
        await endSessions(trx, userId);
        await dropFactors(trx, userId);
        await forgetSignIns(trx, userId);
        await revokeKeys(trx, (keys) => keys.where({ user_id: userId }), 'member');
        for (const table of ['api_keys', 'mail_links', 'memberships']) await trx(table).where({ user_id: userId }).delete();
        await dropConnectionsOf(trx, { userId });
        await dropConnectionsOfEmptied(trx, alone);
        await trx('workspace_invitations').where({ invited_by: userId }).delete();
        // Schema requests stay, because others may want the same. Their contact is removed in workspaces that only this user belongs to,
        // and everywhere if it is this address.
        await trx('schema_requests')
            .whereNotNull('requester_contact')
            .where((is) => is.whereIn('workspace_id', alone).orWhereRaw('lower(btrim(requester_contact)) = lower(?)', [email]))
            .update({ requester_contact: null });
        await forgetInAudit(trx, { userId, email, workspaceIds: others });
        await trx('outgoing_mails').where({ recipient: email }).delete();
        // Late, because the events of all accounts wait from here on.
        await disableWebhooksOfEmptied(trx, alone);
        await disableWebhooksOf(trx, userId, others);
        // Last, because the holds of all accounts may wait for this row.
        await rememberAddress(trx, userId, (await credits.lockBalance(trx, userId))?.allowance.remaining ?? 0);
        // Other processes know the user's keys for a moment longer. A new account of the address gets what is left, so they must not
        // spend it too.
        await credits.endAllowance(trx, userId);
        await trx('users')
            .where({ id: userId })
            .update({
                email: 'deleted',
                email_normalised: `deleted ${userId}`,
                password_hash: null,
                verified_at: null,
                invited_by: null,
                referral_from: null,
                invite_code: null,
                deleted_at: now(trx),
                emptied: alone,
            });
        await recordChange(trx, { actor: userId, command: 'account delete', target: userId, reason: null, before: null, after: null });
        return true;
    });
}
