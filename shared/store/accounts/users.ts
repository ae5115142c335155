import type { Email } from '../../domain/accounts/email.ts';
import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import { dropFactors } from './factors.ts';
import { forgetSignIns } from './sign-ins.ts';
import { endSessions } from './user-sessions.ts';

export interface User {
    userId: string;
    email: string;
    verifiedAt: Date | null;
    suspendedAt: Date | null;
}

/** A user by id. */
export async function findUser(db: Db, userId: string): Promise<User | undefined> {
    const { rows } = await db.raw<{ rows: UserColumns[] }>('select id, email, verified_at, suspended_at from users where id = ?', [userId]);
    const row = rows[0];
    return row && { userId: row.id, email: row.email, verifiedAt: row.verified_at, suspendedAt: row.suspended_at };
}

/**
 * The user of a verified address, made where it is new; locked to the end of the transaction. A known address that nobody
 * verified loses password, sessions and keys and counts as verified from now on.
 */
export async function ensureUser(
    db: Db,
    email: Extract<Email, { ok: true }>,
    invitedBy: string | undefined,
): Promise<{ userId: string; isNewUser: boolean }> {
    const made = await db.raw<{ rows: { id: string }[] }>(
        `insert into users (id, email, email_normalised, verified_at, invited_by) values (?, ?, ?, app_now(), ?)
         on conflict (email_normalised) do nothing returning id`,
        [newId('usr'), email.address, email.normalised, invitedBy ?? null],
    );
    if (made.rows[0] !== undefined) return { userId: made.rows[0].id, isNewUser: true };
    const known = await db.raw<{ rows: [UserColumns] }>(
        'select id, email, verified_at, suspended_at from users where email_normalised = ? for update',
        [email.normalised],
    );
    const { id, verified_at } = known.rows[0];
    if (verified_at === null) {
        await db.raw('update api_keys set revoked_at = app_now() where user_id = ? and revoked_at is null', [id]);
        await endSessions(db, id);
        await dropFactors(db, id);
        await forgetSignIns(db, id);
        await db.raw('delete from mail_links where user_id = ?', [id]);
        await db.raw('update users set password_hash = null, verified_at = app_now() where id = ?', [id]);
    }
    return { userId: id, isNewUser: false };
}

/** Suspends a user, or lets the user back in, within a second in every process; false for an unknown one. */
export async function setSuspended(db: Db, userId: string, isSuspended: boolean): Promise<boolean> {
    const { rowCount } = await db.raw<{ rowCount: number }>(
        'update users set suspended_at = case when ? then coalesce(suspended_at, app_now()) end where id = ?',
        [isSuspended, userId],
    );
    return rowCount === 1;
}

interface UserColumns {
    id: string;
    email: string;
    verified_at: Date | null;
    suspended_at: Date | null;
}
