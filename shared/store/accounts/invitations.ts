import type { Email } from '../../domain/accounts/email.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { newId, randomBase62 } from '../../domain/text/ids.ts';
import { type Columns, columns, type Db, fromNow, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { linkHash, linkHashOf, newLinkId } from './mail-links.ts';
import { join, lockForAdding, roleOf } from './workspaces.ts';

/** An invitation to a workspace, as its managers see it. */
export interface Invitation {
    invitationId: string;
    role: Role;
    /** The address it was mailed to; null: any holder of the link may use it. */
    address: string | null;
    createdAt: Date;
    expiresAt: Date;
}

/** An invitation, as the holder of its link sees it. */
export interface Offer extends Invitation {
    workspaceId: string;
    workspaceName: string;
    addressNormalised: string | null;
}

const INVITATION: Columns<Invitation> = { invitationId: 'i.id', ...columns('i', 'role', 'address', 'created_at', 'expires_at') };

const OFFER: Columns<Offer> = {
    ...INVITATION,
    workspaceId: 'i.workspace_id',
    workspaceName: 'w.name',
    addressNormalised: 'i.address_normalised',
};

const INVITATION_DAYS = 7;
/** Invitations of a workspace that nobody used yet. */
export const MOST_INVITATIONS = 50;

/** `full`: too many are open. */
type Invited = { ok: true; linkId: string } | { ok: false; why: 'full' | 'not-allowed' };

/** Makes an invitation that can be used once and resolves with the id of its link, of which the table keeps a hash. */
export async function inviteToWorkspace(
    db: Db,
    { workspaceId, role, email, by }: { workspaceId: string; role: Role; email: Extract<Email, { ok: true }> | undefined; by: string },
): Promise<Invited> {
    return db.transaction(async (trx) => {
        await lockForAdding(trx, { workspaceId, userId: by });
        // Checked under the lock, not as a page showed it: a link that is made now outlives a member who was just put out.
        const own = await roleOf(trx, workspaceId, by);
        if (own !== 'owner' && (own !== 'admin' || role === 'owner')) return { ok: false, why: 'not-allowed' };
        const open = await listInvitations(trx, workspaceId);
        if (open.length >= MOST_INVITATIONS) return { ok: false, why: 'full' };
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

/** The invitations of a workspace that can still be used, newest first. */
export async function listInvitations(db: Db, workspaceId: string): Promise<Invitation[]> {
    return open(db)
        .where({ 'i.workspace_id': workspaceId })
        .orderBy([{ column: 'i.created_at', order: 'desc' }, 'i.id'])
        .select(INVITATION);
}

/** Takes an invitation back; false if the workspace has none of this id. */
export async function withdrawInvitation(db: Db, workspaceId: string, invitationId: string): Promise<boolean> {
    return (await db('workspace_invitations').where({ workspace_id: workspaceId, id: invitationId }).delete()) === 1;
}

/** Finds the invitation of a link; undefined if it is unknown, used, withdrawn or expired. */
export async function findOffer(db: Db, secrets: Secrets, token: string): Promise<Offer | undefined> {
    const hash = await linkHashOf(secrets, token);
    return hash && open(db).join('workspaces as w', 'w.id', 'i.workspace_id').where({ 'i.token_hash': hash }).first(OFFER);
}

/** Uses up an invitation and makes the user a member. Of two concurrent calls one succeeds. The address was checked before. */
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
        const offer = await open(trx).where({ 'i.token_hash': hash }).forUpdate().first('id', 'workspace_id', 'role');
        if (offer === undefined) return 'gone';
        if (!(await join(trx, { workspaceId: offer.workspace_id, userId, role: offer.role }))) return 'too-many';
        await withdrawInvitation(trx, offer.workspace_id, offer.id);
        return 'joined';
    });
}

function open(db: Db) {
    return db('workspace_invitations as i').where('i.expires_at', '>', now(db));
}

/** The code of a user's own invitation link, which anybody may use and which stays the same. */
export async function inviteCode(db: Db, userId: string): Promise<string> {
    const [user] = await db('users')
        .where({ id: userId })
        .update({ invite_code: db.raw('coalesce(invite_code, ?)', [randomBase62(12)]) })
        .returning('invite_code');
    return user.invite_code;
}

/** Whose code it is; undefined for nobody's, and for users who are suspended or gone. */
export async function findInviter(db: Db, code: string): Promise<string | undefined> {
    const user = await db('users').where({ invite_code: code, suspended_at: null, deleted_at: null }).first('id');
    return user?.id;
}

export interface Referrals {
    /** People who signed up by the user's link. */
    invited: number;
    /** Of them, those whose first charged fetch came. */
    started: number;
    /** Of them who signed up, those that earn nothing: too many came from one range of addresses or mail domain on their day. */
    uncounted: number;
    /** Permanent credits that the user earned with them. */
    earned: number;
    /** Referrals that earned something in this calendar month (UTC). */
    earnedThisMonth: number;
}

/** Counts a user's invitations and the credits they earned. */
export async function countReferrals(db: Db, userId: string): Promise<Referrals> {
    const invited = () => db('users').where({ invited_by: userId }).count();
    const bonuses = () => db('earned_bonuses').where({ kind: 'referral', beneficiary: userId });
    return db.queryBuilder().first({
        invited: invited(),
        started: invited().whereNotNull('first_charged_at'),
        uncounted: invited().where({ earns_inviter: false }),
        earned: bonuses().select(db.raw('coalesce(sum(credits), 0)::bigint')),
        earnedThisMonth: bonuses().where('credits', '>', 0).where('at', '>=', db.raw('credit_month_of(app_now())')).count(),
    });
}
