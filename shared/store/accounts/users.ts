import { type Email, readEmail } from '../../domain/accounts/email.ts';
import { newId } from '../../domain/text/ids.ts';
import { type Columns, type Db, now, orNow } from '../../platform/db.ts';
import { isDuplicate } from '../../platform/pg-errors.ts';
import { dropFactors } from './factors.ts';
import { revokeKeys } from './revoke-keys.ts';
import { forgetSignIns } from './sign-ins.ts';
import { rememberAddress } from './sign-up.ts';
import { endSessions, lockUser } from './user-sessions.ts';

export interface User {
    userId: string;
    email: string;
    verifiedAt: Date | null;
    suspendedAt: Date | null;
}

const USER: Columns<User> = { userId: 'id', email: 'email', verifiedAt: 'verified_at', suspendedAt: 'suspended_at' };

export interface Credentials {
    userId: string;
    email: string;
    /** Null for a user whom an operator created and who has not set a password yet. */
    passwordHash: string | null;
    isVerified: boolean;
    /** The sign-in revision. It increases when sessions are ended, so that pending sign-ins fail. */
    revision: number;
}

export async function findUser(db: Db, userId: string): Promise<User | undefined> {
    return user(db, userId).first(USER);
}

/**
 * Returns the user of a verified address, and creates the user if the address is new. The user is locked until the end of the transaction.
 * A known but unverified address loses its password, sessions and keys, and counts as verified from now on.
 */
export async function ensureUser(
    db: Db,
    email: Extract<Email, { ok: true }>,
    invitedBy: string | undefined,
): Promise<{ userId: string; isNewUser: boolean }> {
    const order = {
        id: newId('usr'),
        email: email.address,
        email_normalised: email.normalised,
        verified_at: now(db),
        invited_by: invitedBy,
    };
    const [made] = await db('users').insert(order).onConflict('email_normalised').ignore().returning('id');
    if (made !== undefined) return { userId: made.id, isNewUser: true };
    const { userId, verifiedAt }: User = await db('users').where({ email_normalised: email.normalised }).forUpdate().first(USER);
    if (verifiedAt === null) {
        await revokeKeysOf(db, userId);
        await endSessions(db, userId);
        await dropFactors(db, userId);
        await forgetSignIns(db, userId);
        await db('mail_links').where({ user_id: userId }).delete();
        await user(db, userId).update({ password_hash: null, verified_at: now(db) });
    }
    return { userId, isNewUser: false };
}

/** Suspends a user or lifts the suspension. Every process applies this within a second. False for an unknown user. */
export async function setSuspended(db: Db, userId: string, isSuspended: boolean): Promise<boolean> {
    const suspended = await user(db, userId).update({ suspended_at: isSuspended ? orNow(db, 'suspended_at') : null });
    return suspended === 1;
}

export async function findCredentials(db: Db, normalised: string): Promise<Credentials | undefined> {
    return credentials(db).where({ email_normalised: normalised });
}

export async function credentialsOf(db: Db, userId: string): Promise<Credentials | undefined> {
    return credentials(db).where({ id: userId });
}

/** Ends all sessions except `keepSession`, and what was begun with the old password. Resolves with the revision for new sign-ins. */
export async function changePassword(db: Db, userId: string, passwordHash: string, keepSession?: string): Promise<number> {
    return db.transaction(async (trx) => {
        const revision = await endSessions(trx, userId, keepSession);
        await user(trx, userId).update({ password_hash: passwordHash });
        // A person who knows the old password could otherwise take over the account with a pending change of address.
        await trx('mail_links').where({ user_id: userId }).whereNot({ purpose: 'verify' }).delete();
        return revision;
    });
}

/**
 * Sets the password of a person who proved to read `address` by a mailed link. Ends sessions and other links and, on request, keys and
 * invitations. If nobody had confirmed the address before, another person may have signed up with it, so all keys and second factors end.
 * Resolves with the revision for new sign-ins.
 */
export async function resetPassword(
    db: Db,
    userId: string,
    address: string,
    order: { passwordHash: string; revokeKeys: boolean },
): Promise<number> {
    return db.transaction(async (trx) => {
        // A session that is adding a key or factor either does so before this lock, and the key or factor ends here, or fails.
        await lockUser(trx, userId);
        const isUnconfirmed = (await credentialsOf(trx, userId))?.isVerified === false;
        if (isUnconfirmed) {
            await dropFactors(trx, userId);
            await forgetSignIns(trx, userId);
        }
        if (isUnconfirmed || order.revokeKeys) {
            await revokeKeysOf(trx, userId);
            // A person who knew the old password could use one to come back.
            await trx('workspace_invitations').where({ invited_by: userId }).delete();
        }
        const revision = await changePassword(trx, userId, order.passwordHash);
        await verifyAddress(trx, userId, address);
        return revision;
    });
}

/**
 * Marks the address as verified if it is still the user's address. Further links to confirm it end. If nobody had confirmed the address
 * before, the spelling of the link applies, because the person who signed up may have used a spelling that reaches nobody.
 */
export async function verifyAddress(db: Db, userId: string, address: string): Promise<boolean> {
    const email = readEmail(address);
    const verified = await db('users')
        .where({ id: userId })
        .where((is) => is.where({ email: address }).orWhere({ verified_at: null, email_normalised: email.ok ? email.normalised : '' }))
        .update({ email: address, verified_at: orNow(db, 'verified_at') });
    await db('mail_links').where({ user_id: userId, purpose: 'verify' }).delete();
    return verified === 1;
}

/** Sets an address that its link confirmed; false if another account has it by now. The old one earns no second bonus. */
export async function changeAddress(db: Db, userId: string, { address, normalised }: Extract<Email, { ok: true }>): Promise<boolean> {
    const change = async (trx: Db) => {
        const former = await user(trx, userId).forUpdate().first('email_normalised');
        if (former === undefined) return false;
        // The account keeps its allowance under the new address.
        if (former.email_normalised !== normalised) await rememberAddress(trx, userId, 0);
        await user(trx, userId).update({ email: address, email_normalised: normalised, verified_at: now(trx) });
        await trx('mail_links').where({ user_id: userId }).delete();
        return true;
    };
    try {
        return await db.transaction(change);
    } catch (error) {
        // Another account has the address, perhaps since a moment ago.
        if (isDuplicate(error)) return false;
        throw error;
    }
}

function user(db: Db, userId: string) {
    return db('users').where({ id: userId });
}

function credentials(db: Db) {
    return db('users')
        .whereNull('deleted_at')
        .first({
            userId: 'id',
            email: 'email',
            passwordHash: 'password_hash',
            isVerified: db.raw('verified_at is not null'),
            revision: 'sign_in_revision',
        });
}

async function revokeKeysOf(db: Db, userId: string): Promise<void> {
    await revokeKeys(db, (keys) => keys.where({ user_id: userId }), 'member');
}
