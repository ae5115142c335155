import type { Email } from '../../domain/accounts/email.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, columns, type Db, fromNow, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { linkHash, linkHashOf, newLinkId } from './mail-links.ts';
import { addMember, lockForAdding, roleOf } from './workspaces.ts';

/** An invitation to a workspace in the form that its managers see. */
interface Invitation {
    invitationId: string;
    role: Role;
    /** The address to which it was mailed; null: any holder of the link may use it. */
    address: string | null;
    createdAt: Date;
    expiresAt: Date;
}

/** An invitation in the form that the holder of its link sees. */
export interface Offer extends Invitation {
    workspaceId: string;
    workspaceName: string;
    addressNormalised: string | null;
}

const INVITATION: Columns<Invitation> = { invitationId: 'i.id', ...columns('i', 'role address created_at expires_at') };

const OFFER: Columns<Offer> = {
    ...INVITATION,
    workspaceId: 'i.workspace_id',
    workspaceName: 'w.name',
    addressNormalised: 'i.address_normalised',
};

const INVITATION_DAYS = 7;
/** Maximum number of unused invitations of a workspace. */
export const MAX_INVITATIONS = 50;

/** `full`: there are too many open invitations. */
type Invited = { ok: true; linkId: string } | { ok: false; why: 'full' | 'not-allowed' };

/** Creates an invitation that can be used once. Resolves with the id of its link; the table contains only a hash of the id. */
export async function inviteToWorkspace(
    db: Db,
    { workspaceId, role, email, by }: { workspaceId: string; role: Role; email: Extract<Email, { ok: true }> | undefined; by: string },
): Promise<Invited> {
    return db.transaction(async (trx) => {
        await lockForAdding(trx, { workspaceId, userId: by });
        // The role is checked again under the lock, because a link that is created now would outlive a member who was just removed.
        const own = await roleOf(trx, workspaceId, by);
        if (own !== 'owner' && (own !== 'admin' || role === 'owner')) return { ok: false, why: 'not-allowed' };
        const open = await listInvitations(trx, workspaceId);
        if (open.length >= MAX_INVITATIONS) return { ok: false, why: 'full' };
        const linkId = newLinkId();
        await trx('workspace_invitations').insert({
            id: newId('inv'),
            token_hash: linkHash(linkId),
            workspace_id: workspaceId,
            role,
            address: email?.address,
            address_normalised: email?.normalised,
            invited_by: by,
            expires_at: fromNow(trx, `${INVITATION_DAYS} days`),
        });
        return { ok: true, linkId };
    });
}

export async function listInvitations(db: Db, workspaceId: string): Promise<Invitation[]> {
    return openInvitations(db)
        .where({ 'i.workspace_id': workspaceId })
        .orderBy([{ column: 'i.created_at', order: 'desc' }, 'i.id'])
        .select(INVITATION);
}

/** Withdraws an invitation; false if the workspace has no invitation with this id. */
export async function withdrawInvitation(db: Db, workspaceId: string, invitationId: string): Promise<boolean> {
    return (await db('workspace_invitations').where({ workspace_id: workspaceId, id: invitationId }).delete()) === 1;
}

/** Finds the invitation of a link; undefined if it is unknown, used, withdrawn or expired. */
export async function findOffer(db: Db, secrets: Secrets, token: string): Promise<Offer | undefined> {
    const hash = await linkHashOf(secrets, token);
    return hash && openInvitations(db).join('workspaces as w', 'w.id', 'i.workspace_id').where({ 'i.token_hash': hash }).first(OFFER);
}

/** Uses an invitation and makes the user a member. Of two concurrent calls, one succeeds. Callers have checked the address before. */
export async function acceptOffer(
    db: Db,
    secrets: Secrets,
    { token, userId }: { token: string; userId: string },
): Promise<'joined' | 'gone' | 'too-many'> {
    const hash = await linkHashOf(secrets, token);
    if (hash === undefined) return 'gone';
    return db.transaction(async (trx) => {
        const workspace = trx('workspace_invitations').where({ token_hash: hash }).select('workspace_id');
        await trx('users').where({ id: userId }).forUpdate().select('id');
        await trx('workspaces').whereIn('id', workspace).forUpdate().select('id');
        const offer = await openInvitations(trx).where({ 'i.token_hash': hash }).forUpdate().first('id', 'workspace_id', 'role');
        if (offer === undefined) return 'gone';
        if (!(await addMember(trx, { workspaceId: offer.workspace_id, userId, role: offer.role }))) return 'too-many';
        await withdrawInvitation(trx, offer.workspace_id, offer.id);
        return 'joined';
    });
}

function openInvitations(db: Db) {
    return db('workspace_invitations as i').where('i.expires_at', '>', now(db));
}
