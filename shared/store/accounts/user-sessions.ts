import type { Plan } from '../../domain/accounts/plans.ts';
import { newWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import { payerOf } from '../credits/credits.ts';
import { dropPendingTotp } from './factors/totp.ts';
import { lockUser, raiseRevision } from './while-signed-in.ts';
import type { Role } from './workspaces.ts';

/** Who is signed in, and where: what every page of the dashboard begins with. */
export interface SignedIn {
    /** `ses_…` */
    sessionId: string;
    userId: string;
    email: string;
    emailNormalised: string;
    isVerified: boolean;
    isSuspended: boolean;
    /** Signed in, or gave the password again, within the last 15 minutes. */
    isRecent: boolean;
    /** Has an authenticator app or a passkey. */
    hasFactor: boolean;
    /** Made a charged fetch before. */
    hasFetched: boolean;
    /** In the order in which they were made. */
    workspaces: Seat[];
    /** The one that was looked at last, or the oldest; undefined for somebody who left them all. */
    current: Seat | undefined;
}

/** A workspace as one of its members sees it. */
export interface Seat {
    workspaceId: string;
    name: string;
    plan: Plan;
    role: Role;
    /** Who pays for this member's calls here. */
    accountId: string;
    /** Its members need a second factor to see it. */
    demandsFactor: boolean;
}

export interface SessionRow {
    sessionId: string;
    browser: string;
    /** The client that used it last; null for a session of before addresses were kept. */
    address: string | null;
    createdAt: Date;
    seenAt: Date;
}

/** Days after signing in when a session ends. */
export const SESSION_DAYS = 30;

/** Days without use when a session ends. */
export const IDLE_DAYS = 14;

/** A confirmation counts this long. */
export const CONFIRMED_MINUTES = 15;

/** Sessions of one user; one more ends the one that was seen longest ago. */
const MOST_SESSIONS = 50;

/** Begins a session; the token goes into the browser's cookie, its hash into the table. Callers hold the revision of its sign-in. */
export async function beginSession(
    db: Db,
    { userId, browser, address }: { userId: string; browser: string; address: string },
): Promise<string> {
    const token = newWebToken();
    await db.raw(
        'delete from web_sessions where id in (select id from web_sessions where user_id = ? order by seen_at desc, id offset ?)',
        [userId, MOST_SESSIONS - 1],
    );
    await db.raw(
        `insert into web_sessions (id, token_hash, user_id, browser, address, expires_at)
         values (?, ?, ?, ?, ?, app_now() + ? * interval '1 day')`,
        [newId('ses'), webTokenHash(token), userId, browser.slice(0, 200), address, SESSION_DAYS],
    );
    return token;
}

/** Who signed in with this token; undefined where the session is unknown, over, idle or ended. Seen times are as fine as an hour. */
export async function findSignedIn(db: Db, token: string, address?: string): Promise<SignedIn | undefined> {
    const { rows } = await db.raw<{ rows: SignedInColumns[] }>(
        `select s.id, s.user_id, s.workspace_id, s.seen_at < app_now() - interval '1 hour' as is_stale, u.email, u.email_normalised,
                u.verified_at is not null as is_verified, u.suspended_at is not null as is_suspended,
                s.confirmed_at > app_now() - ? * interval '1 minute' as is_recent,
                exists (select from totp_secrets t where t.user_id = u.id and t.confirmed_at is not null)
                or exists (select from passkeys p where p.user_id = u.id) as has_factor,
                u.first_charged_at is not null as has_fetched,
                (select coalesce(json_agg(json_build_object('id', w.id, 'name', w.name, 'plan', w.plan, 'role', m.role,
                                                                   'demands_factor', w.demands_factor)
                                          order by w.created_at, w.id), '[]')
                 from memberships m join workspaces w on w.id = m.workspace_id where m.user_id = u.id) as seats
         from web_sessions s join users u on u.id = s.user_id
         where s.token_hash = ? and s.expires_at > app_now() and s.seen_at > app_now() - ? * interval '1 day' and u.deleted_at is null`,
        [CONFIRMED_MINUTES, webTokenHash(token), IDLE_DAYS],
    );
    const row = rows[0];
    if (row?.is_stale === true) {
        await db.raw('update web_sessions set seen_at = app_now(), address = coalesce(?, address) where id = ?', [address ?? null, row.id]);
    }
    return row && toSignedIn(row);
}

/** The person behind a session proved again who they are. */
export async function confirmSession(db: Db, sessionId: string): Promise<void> {
    await db.raw('update web_sessions set confirmed_at = app_now(), code_hash = null, code_expires_at = null where id = ?', [sessionId]);
}

/** Ends one session at once. */
export async function endSession(db: Db, sessionId: string): Promise<void> {
    await db.raw('delete from web_sessions where id = ?', [sessionId]);
}

/** Ends one of a user's own sessions; false where there is none of this id. */
export async function endOwnSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { rowCount } = await trx.raw<{ rowCount: number }>('delete from web_sessions where id = ? and user_id = ?', [
            sessionId,
            userId,
        ]);
        if (rowCount === 1) await dropPendingTotp(trx, userId);
        return rowCount === 1;
    });
}

/** Ends all sessions of a user, or all but one, and sign-ins that are under way. Resolves with the revision of those that come. */
export async function endSessions(db: Db, userId: string, exceptId?: string): Promise<number> {
    return db.transaction(async (trx) => {
        await lockUser(trx, userId);
        await trx.raw('delete from web_sessions where user_id = ? and id is distinct from ?', [userId, exceptId ?? null]);
        await trx.raw('delete from sign_in_tickets where user_id = ?', [userId]);
        // The owner of an earlier session may have read it.
        await dropPendingTotp(trx, userId);
        return raiseRevision(trx, userId);
    });
}

/** Where a user is signed in, the latest first. */
export async function listSessions(db: Db, userId: string): Promise<SessionRow[]> {
    const { rows } = await db.raw<{ rows: { id: string; browser: string; address: string | null; created_at: Date; seen_at: Date }[] }>(
        `select id, browser, address, created_at, seen_at from web_sessions
         where user_id = ? and expires_at > app_now() and seen_at > app_now() - ? * interval '1 day' order by seen_at desc, id limit 100`,
        [userId, IDLE_DAYS],
    );
    return rows.map((row) => ({
        sessionId: row.id,
        browser: row.browser,
        address: row.address,
        createdAt: row.created_at,
        seenAt: row.seen_at,
    }));
}

/** The workspace that this session looks at from now on; its user is a member. */
export async function lookAtWorkspace(db: Db, sessionId: string, workspaceId: string): Promise<void> {
    await db.raw('update web_sessions set workspace_id = ? where id = ?', [workspaceId, sessionId]);
}

/** Forgets sessions, links, invitations and counted attempts that are over. */
export async function forgetExpired(db: Db): Promise<void> {
    for (const table of ['web_sessions', 'mail_links', 'workspace_invitations', 'passkey_challenges', 'sign_in_tickets']) {
        await db.raw('delete from ?? where expires_at < app_now()', [table]);
    }
    await db.raw("delete from web_sessions where seen_at < app_now() - ? * interval '1 day'", [IDLE_DAYS]);
    await db.raw('delete from attempts where ends_at < app_now()');
}

interface SignedInColumns {
    id: string;
    user_id: string;
    workspace_id: string | null;
    is_stale: boolean;
    email: string;
    email_normalised: string;
    is_verified: boolean;
    is_suspended: boolean;
    is_recent: boolean;
    has_factor: boolean;
    has_fetched: boolean;
    seats: { id: string; name: string; plan: Plan; role: Role; demands_factor: boolean }[];
}

function toSignedIn(row: SignedInColumns): SignedIn {
    const workspaces = row.seats.map(({ id, name, plan, role, demands_factor }) => ({
        workspaceId: id,
        name,
        plan,
        role,
        accountId: payerOf(plan, id, row.user_id),
        demandsFactor: demands_factor,
    }));
    return {
        sessionId: row.id,
        userId: row.user_id,
        email: row.email,
        emailNormalised: row.email_normalised,
        isVerified: row.is_verified,
        isSuspended: row.is_suspended,
        isRecent: row.is_recent,
        hasFactor: row.has_factor,
        hasFetched: row.has_fetched,
        workspaces,
        current: workspaces.find(({ workspaceId }) => workspaceId === row.workspace_id) ?? workspaces[0],
    };
}
