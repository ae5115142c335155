import type { Email } from '../../domain/accounts/email.ts';
import { newId, randomBase62 } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { linkHash, linkHashOf, newLinkId } from './link-tokens.ts';
import { join, lockForAdding, type Role } from './workspaces.ts';

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

export const INVITATION_DAYS = 7;
/** Invitations of a workspace that nobody used yet. */
export const MOST_INVITATIONS = 50;

/** `full`: too many are open. */
export type Invited = { ok: true; linkId: string } | { ok: false; why: 'full' | 'not-allowed' };

/** Makes an invitation that can be used once and resolves with the id of its link, of which the table keeps a hash. */
export async function inviteToWorkspace(
    db: Db,
    order: { workspaceId: string; role: Role; email: Extract<Email, { ok: true }> | undefined; by: string },
): Promise<Invited> {
    const { workspaceId, role, email, by } = order;
    return db.transaction(async (trx) => {
        await lockForAdding(trx, { workspaceId, userId: by });
        // Judged under the lock, not as a page showed it: a link that is made now outlives a member who was just put out.
        if (!(await mayInvite(trx, order))) return { ok: false, why: 'not-allowed' };
        const open = await listInvitations(trx, workspaceId);
        if (open.length >= MOST_INVITATIONS) return { ok: false, why: 'full' };
        const linkId = newLinkId();
        await trx.raw(
            `insert into workspace_invitations (id, token_hash, workspace_id, role, address, address_normalised, invited_by, expires_at)
             values (?, ?, ?, ?, ?, ?, ?, app_now() + ? * interval '1 day')`,
            [newId('inv'), linkHash(linkId), workspaceId, role, email?.address ?? null, email?.normalised ?? null, by, INVITATION_DAYS],
        );
        return { ok: true, linkId };
    });
}

async function mayInvite(db: Db, { workspaceId, by, role }: { workspaceId: string; by: string; role: Role }): Promise<boolean> {
    const { rows } = await db.raw<{ rows: { role: Role }[] }>('select role from memberships where workspace_id = ? and user_id = ?', [
        workspaceId,
        by,
    ]);
    const own = rows[0]?.role;
    return own === 'owner' || (own === 'admin' && role !== 'owner');
}

/** The invitations of a workspace that can still be used, newest first. */
export async function listInvitations(db: Db, workspaceId: string): Promise<Invitation[]> {
    const { rows } = await db.raw<{ rows: OfferColumns[] }>(
        `select i.*, '' as name from workspace_invitations i
         where i.workspace_id = ? and i.expires_at > app_now() order by i.created_at desc, i.id`,
        [workspaceId],
    );
    return rows.map(toOffer);
}

/** Takes an invitation back; false where the workspace has none of this id. */
export async function withdrawInvitation(db: Db, workspaceId: string, invitationId: string): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>('delete from workspace_invitations where workspace_id = ? and id = ?', [
        workspaceId,
        invitationId,
    ]);
    return rowCount === 1;
}

/** What a link offers; undefined where it is unknown, used, taken back or too old. */
export async function findOffer(db: Db, secrets: Secrets, token: string): Promise<Offer | undefined> {
    const key = await linkHashOf(secrets, token);
    if (key === undefined) return undefined;
    const { rows } = await db.raw<{ rows: OfferColumns[] }>(
        `select i.*, w.name from workspace_invitations i join workspaces w on w.id = i.workspace_id
         where i.token_hash = ? and i.expires_at > app_now()`,
        [key],
    );
    return rows[0] && toOffer(rows[0]);
}

/** Uses an invitation up and makes the user a member: of two at once, one gets in. The address was judged before. */
export async function acceptOffer(
    db: Db,
    secrets: Secrets,
    order: { token: string; userId: string },
): Promise<'joined' | 'gone' | 'too-many'> {
    const { token, userId } = order;
    const key = await linkHashOf(secrets, token);
    if (key === undefined) return 'gone';
    return db.transaction(async (trx) => {
        await trx.raw('select from users where id = ? for update', [userId]);
        await trx.raw(
            'select from workspaces where id = (select workspace_id from workspace_invitations where token_hash = ?) for update',
            [key],
        );
        const { rows } = await trx.raw<{ rows: { id: string; workspace_id: string; role: Role }[] }>(
            'select id, workspace_id, role from workspace_invitations where token_hash = ? and expires_at > app_now() for update',
            [key],
        );
        const offer = rows[0];
        if (offer === undefined) return 'gone';
        if (!(await join(trx, { workspaceId: offer.workspace_id, userId, role: offer.role }))) return 'too-many';
        await withdrawInvitation(trx, offer.workspace_id, offer.id);
        return 'joined';
    });
}

/** The code of a user's own invitation link, which anybody may use and which stays the same. */
export async function inviteCode(db: Db, userId: string): Promise<string> {
    const { rows } = await db.raw<{ rows: [{ invite_code: string }] }>(
        'update users set invite_code = coalesce(invite_code, ?) where id = ? returning invite_code',
        [randomBase62(12), userId],
    );
    return rows[0].invite_code;
}

/** Whose code it is; undefined for nobody's, and for users who are suspended or gone. */
export async function findInviter(db: Db, code: string): Promise<string | undefined> {
    const { rows } = await db.raw<{ rows: { id: string }[] }>(
        'select id from users where invite_code = ? and suspended_at is null and deleted_at is null',
        [code],
    );
    return rows[0]?.id;
}

export interface Referrals {
    /** People who signed up by the user's link. */
    invited: number;
    /** Of them, those whose first charged fetch came. */
    started: number;
    /** Of them who signed up, those that earn nothing: too many came from one range of addresses or mail domain on their day. */
    uncounted: number;
    /** Credits they earned the user, for good. */
    earned: number;
    /** Referrals that earned something in this calendar month (UTC). */
    earnedThisMonth: number;
}

/** What a user's invitations came to. */
export async function countReferrals(db: Db, userId: string): Promise<Referrals> {
    const { rows } = await db.raw<{ rows: [Referrals] }>(
        `select (select count(*) from users where invited_by = :userId) as invited,
                (select count(*) from users where invited_by = :userId and first_charged_at is not null) as started,
                (select count(*) from users where invited_by = :userId and not earns_inviter) as uncounted,
                (select coalesce(sum(credits), 0)::bigint from earned_bonuses where kind = 'referral' and beneficiary = :userId) as earned,
                (select count(*) from earned_bonuses where kind = 'referral' and beneficiary = :userId and credits > 0
                 and at >= credit_month_of(app_now())) as "earnedThisMonth"`,
        { userId },
    );
    return rows[0];
}

interface OfferColumns {
    id: string;
    workspace_id: string;
    name: string;
    role: Role;
    address: string | null;
    address_normalised: string | null;
    created_at: Date;
    expires_at: Date;
}

function toOffer(row: OfferColumns): Offer {
    return {
        invitationId: row.id,
        workspaceId: row.workspace_id,
        workspaceName: row.name,
        role: row.role,
        address: row.address,
        addressNormalised: row.address_normalised,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
    };
}
