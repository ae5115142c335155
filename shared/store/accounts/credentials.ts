import { type Email, readEmail } from '../../domain/accounts/email.ts';
import type { Db } from '../../platform/db.ts';
import { dropFactors } from './factors.ts';
import { forgetSignIns } from './sign-ins.ts';
import { rememberAddress } from './sign-up.ts';
import { endSessions } from './user-sessions.ts';
import { lockUser } from './while-signed-in.ts';

/** The credentials that a sign-in is checked against. */
export interface Credentials {
    userId: string;
    email: string;
    /** Null for somebody whom an operator made and who set none yet. */
    passwordHash: string | null;
    isVerified: boolean;
    /** What a sign-in is judged at; sessions that end raise it. */
    revision: number;
}

/** The credentials of a normalised address; undefined for an unknown one. */
export async function findCredentials(db: Db, normalised: string): Promise<Credentials | undefined> {
    return firstOf(db, 'email_normalised = ?', normalised);
}

/** The credentials of a user who exists. */
export async function credentialsOf(db: Db, userId: string): Promise<Credentials | undefined> {
    return firstOf(db, 'id = ?', userId);
}

/**
 * Another password: every session but `keepSession` ends, and so does whatever was begun with the old one. Resolves with the revision of
 * sign-ins that come.
 */
export async function changePassword(db: Db, userId: string, passwordHash: string, keepSession?: string): Promise<number> {
    return db.transaction(async (trx) => {
        const revision = await endSessions(trx, userId, keepSession);
        await trx.raw('update users set password_hash = ? where id = ?', [passwordHash, userId]);
        // A person who knows the old password could take the account over with a pending change of address.
        await trx.raw("delete from mail_links where user_id = ? and purpose <> 'verify'", [userId]);
        return revision;
    });
}

/**
 * The password of somebody who proved to read `address`, from a mailed link: sessions and other links end, and keys where that is wanted.
 * Where nobody confirmed the address before, somebody else may have signed up with it: all keys end, and second factors. Resolves with the
 * revision of sign-ins that come.
 */
export async function resetPassword(
    db: Db,
    userId: string,
    address: string,
    { passwordHash, revokeKeys }: { passwordHash: string; revokeKeys: boolean },
): Promise<number> {
    return db.transaction(async (trx) => {
        // A key or a factor that a session is about to add is added before, and ends here, or not at all.
        await lockUser(trx, userId);
        if ((await credentialsOf(trx, userId))?.isVerified === false) {
            await dropFactors(trx, userId);
            await forgetSignIns(trx, userId);
        }
        await trx.raw(
            `update api_keys k set revoked_at = app_now() from users u
             where u.id = k.user_id and u.id = ? and (u.verified_at is null or ?) and k.revoked_at is null`,
            [userId, revokeKeys],
        );
        const revision = await changePassword(trx, userId, passwordHash);
        await verifyAddress(trx, userId, address);
        return revision;
    });
}

/**
 * The address counts as verified from now on, if it is still the user's; further links to confirm it end. Of one that nobody confirmed
 * before, the spelling that was read counts: whoever signed up first may have written it so that it reaches nobody.
 */
export async function verifyAddress(db: Db, userId: string, address: string): Promise<boolean> {
    const email = readEmail(address);
    const { rowCount } = await db.raw<{ rowCount: number }>(
        `update users set verified_at = coalesce(verified_at, app_now()), email = :address
         where id = :userId and (email = :address or (verified_at is null and email_normalised = :normalised))`,
        { userId, address, normalised: email.ok ? email.normalised : '' },
    );
    await db.raw("delete from mail_links where user_id = ? and purpose = 'verify'", [userId]);
    return rowCount === 1;
}

/** Another address, which its link has proved; false where somebody else has it meanwhile. The old one earns nothing a second time. */
export async function changeAddress(db: Db, userId: string, email: Extract<Email, { ok: true }>): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: { email_normalised: string }[] }>(
            'select email_normalised from users where id = ? for update',
            [userId],
        );
        const isOther = rows[0] !== undefined && rows[0].email_normalised !== email.normalised;
        const taken = await trx.raw<{ rows: unknown[] }>('select from users where email_normalised = ? and id <> ?', [
            email.normalised,
            userId,
        ]);
        if (rows[0] === undefined || taken.rows.length > 0) return false;
        // The account and its allowance go on under the new address.
        if (isOther) await rememberAddress(trx, userId, 0);
        await trx.raw('update users set email = ?, email_normalised = ?, verified_at = app_now() where id = ?', [
            email.address,
            email.normalised,
            userId,
        ]);
        await trx.raw('delete from mail_links where user_id = ?', [userId]);
        return true;
    });
}

async function firstOf(db: Db, condition: string, value: string): Promise<Credentials | undefined> {
    const { rows } = await db.raw<{ rows: CredentialColumns[] }>(
        `select id, email, password_hash, verified_at is not null as is_verified, sign_in_revision from users where ${condition} and deleted_at is null`,
        [value],
    );
    const row = rows[0];
    return (
        row && {
            userId: row.id,
            email: row.email,
            passwordHash: row.password_hash,
            isVerified: row.is_verified,
            revision: row.sign_in_revision,
        }
    );
}

interface CredentialColumns {
    id: string;
    email: string;
    password_hash: string | null;
    is_verified: boolean;
    sign_in_revision: number;
}
