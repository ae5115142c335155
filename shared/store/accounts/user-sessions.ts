import { randomInt } from 'node:crypto';
import type { Plan } from '../../domain/accounts/plans.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { newWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import { newId } from '../../domain/text/ids.ts';
import { ago, type Columns, columns, type Db, fromNow, now } from '../../platform/db.ts';
import { payerOf } from '../credits/credits.ts';
import { dropPendingTotp } from './totp.ts';

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
    workspaces: Membership[];
    /** The last visited workspace, or the oldest; undefined for a user without any. */
    current: Membership | undefined;
}

/** A workspace as one of its members sees it. */
export interface Membership {
    workspaceId: string;
    name: string;
    plan: Plan;
    role: Role;
    /** Who pays for this member's calls here. */
    accountId: string;
    /** Its members need a second factor to see it. */
    demandsFactor: boolean;
}

interface SessionRow {
    sessionId: string;
    browser: string;
    /** The client that used it last; null for a session of before addresses were kept. */
    address: string | null;
    createdAt: Date;
    seenAt: Date;
}

const SESSION: Columns<SessionRow> = { sessionId: 'id', ...columns('', 'browser', 'address', 'created_at', 'seen_at') };

/** Days after signing in when a session ends. */
export const SESSION_DAYS = 30;

/** Days without use when a session ends. */
const IDLE_DAYS = 14;

/** A confirmation counts this long. */
const CONFIRMED_MINUTES = 15;

/** Minutes that a mailed code works. */
const CODE_MINUTES = 10;

/** Sessions of one user; one more ends the one that was seen longest ago. */
const MOST_SESSIONS = 50;

/** Begins a session; the token goes into the browser's cookie, its hash into the table. Callers hold the revision of its sign-in. */
export async function beginSession(
    db: Db,
    { userId, browser, address }: { userId: string; browser: string; address: string },
): Promise<string> {
    const token = newWebToken();
    const newest = db('web_sessions')
        .where({ user_id: userId })
        .orderBy([{ column: 'seen_at', order: 'desc' }, 'id']);
    await db('web_sessions')
        .whereIn('id', newest.offset(MOST_SESSIONS - 1).select('id'))
        .delete();
    await db('web_sessions').insert({
        id: newId('ses'),
        token_hash: webTokenHash(token),
        user_id: userId,
        browser: browser.slice(0, 200),
        address,
        expires_at: fromNow(db, `${SESSION_DAYS} days`),
    });
    return token;
}

/** Raw: every page begins with this one statement, which reads the user, the factors and the workspaces along. */
const SIGNED_IN = `
    select s.id as "sessionId", s.user_id as "userId", u.email, u.email_normalised as "emailNormalised",
           u.verified_at is not null as "isVerified", u.suspended_at is not null as "isSuspended",
           s.confirmed_at > app_now() - interval '${CONFIRMED_MINUTES} minutes' as "isRecent",
           exists (select from totp_secrets t where t.user_id = u.id and t.confirmed_at is not null)
           or exists (select from passkeys p where p.user_id = u.id) as "hasFactor",
           u.first_charged_at is not null as "hasFetched",
           (select coalesce(json_agg(json_build_object('workspaceId', w.id, 'name', w.name, 'plan', w.plan, 'role', m.role,
                                                       'demandsFactor', w.demands_factor)
                                     order by w.created_at, w.id), '[]')
            from memberships m join workspaces w on w.id = m.workspace_id where m.user_id = u.id) as memberships,
           s.workspace_id as "lookedAt", s.seen_at < app_now() - interval '1 hour' as "isStale"
    from web_sessions s join users u on u.id = s.user_id
    where s.token_hash = ? and s.expires_at > app_now() and s.seen_at > app_now() - interval '${IDLE_DAYS} days' and u.deleted_at is null`;

interface SignedInRow extends Omit<SignedIn, 'workspaces' | 'current'> {
    memberships: Omit<Membership, 'accountId'>[];
    /** The workspace that the session looked at last. */
    lookedAt: string | null;
    isStale: boolean;
}

/** Who signed in with this token; undefined if the session is unknown, over, idle or ended. Seen times are as fine as an hour. */
export async function findSignedIn(db: Db, token: string, address?: string): Promise<SignedIn | undefined> {
    const { rows } = await db.raw<{ rows: SignedInRow[] }>(SIGNED_IN, [webTokenHash(token)]);
    if (rows[0] === undefined) return undefined;
    const { memberships, lookedAt, isStale, ...who } = rows[0];
    if (isStale) await session(db, who.sessionId).update({ seen_at: now(db), address });
    const workspaces = memberships.map((membership) => ({
        ...membership,
        accountId: payerOf(membership.plan, membership.workspaceId, who.userId),
    }));
    return { ...who, workspaces, current: workspaces.find(({ workspaceId }) => workspaceId === lookedAt) ?? workspaces[0] };
}

function session(db: Db, sessionId: string) {
    return db('web_sessions').where({ id: sessionId });
}

/** The person behind a session proved again who they are. */
export async function confirmSession(db: Db, sessionId: string): Promise<void> {
    await session(db, sessionId).update({ confirmed_at: now(db), code_hash: null, code_expires_at: null });
}

/** A new code of eight digits for one session, which is mailed; the one before it no longer works. */
export async function makeSessionCode(db: Db, sessionId: string): Promise<string> {
    const code = String(randomInt(0, 100_000_000)).padStart(8, '0');
    const code_expires_at = fromNow(db, `${CODE_MINUTES} minutes`);
    await session(db, sessionId).update({ code_hash: codeHash(sessionId, code), code_expires_at });
    return code;
}

/** Whether this is the session's code; it works once. Callers bound the attempts. */
export async function useSessionCode(db: Db, sessionId: string, code: string): Promise<boolean> {
    const used = await db('web_sessions')
        .where({ id: sessionId, code_hash: codeHash(sessionId, code) })
        .where('code_expires_at', '>', now(db))
        .update({ code_hash: null, code_expires_at: null });
    return used === 1;
}

function codeHash(sessionId: string, code: string): Buffer {
    return webTokenHash(`${sessionId} ${code.replaceAll(/[\s-]/g, '')}`);
}

/** Ends one session at once. */
export async function endSession(db: Db, sessionId: string): Promise<void> {
    await session(db, sessionId).delete();
}

/** Ends one of a user's own sessions; false if there is none of this id. */
export async function endOwnSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const ended = await trx('web_sessions').where({ id: sessionId, user_id: userId }).delete();
        if (ended === 1) await dropPendingTotp(trx, userId);
        return ended === 1;
    });
}

/** Ends all sessions of a user, or all but one, and sign-ins that are under way. Resolves with the revision of those that come. */
export async function endSessions(db: Db, userId: string, exceptId?: string): Promise<number> {
    return db.transaction(async (trx) => {
        await lockUser(trx, userId);
        await trx('web_sessions')
            .where({ user_id: userId })
            .whereNot({ id: exceptId ?? '' })
            .delete();
        await trx('sign_in_tickets').where({ user_id: userId }).delete();
        // The owner of an earlier session may have read it.
        await dropPendingTotp(trx, userId);
        return raiseRevision(trx, userId);
    });
}

/** Where a user is signed in, the latest first. */
export async function listSessions(db: Db, userId: string): Promise<SessionRow[]> {
    return db('web_sessions')
        .where({ user_id: userId })
        .where('expires_at', '>', now(db))
        .where('seen_at', '>', ago(db, `${IDLE_DAYS} days`))
        .orderBy([{ column: 'seen_at', order: 'desc' }, 'id'])
        .limit(100)
        .select(SESSION);
}

/** The workspace that this session looks at from now on; its user is a member. */
export async function lookAtWorkspace(db: Db, sessionId: string, workspaceId: string): Promise<void> {
    await session(db, sessionId).update({ workspace_id: workspaceId });
}

/** Forgets sessions, links, invitations and counted attempts that are over. */
export async function forgetExpired(db: Db): Promise<void> {
    for (const table of ['web_sessions', 'mail_links', 'workspace_invitations', 'passkey_challenges', 'sign_in_tickets'])
        await db(table).where('expires_at', '<', now(db)).delete();
    await db('web_sessions')
        .where('seen_at', '<', ago(db, `${IDLE_DAYS} days`))
        .delete();
    await db('attempts').where('ends_at', '<', now(db)).delete();
}

/** The session, or the credentials of a sign-in, changed meanwhile. */
export class SessionEnded extends Error {
    constructor() {
        super('the session was ended meanwhile');
        this.name = 'SessionEnded';
    }
}

/**
 * Runs work in a transaction during which the session cannot end. Ending sessions takes an exclusive lock on the user's row. So either this
 * work commits first, or it finds the session ended and does nothing.
 * @param options `alone`: the work itself ends sessions of the user, or changes the user's credentials
 * @throws SessionEnded
 */
export async function whileSignedIn<Result>(
    db: Db,
    { userId, sessionId }: { userId: string; sessionId: string },
    work: (trx: Db) => Promise<Result>,
    options: { alone?: boolean } = {},
): Promise<Result> {
    return db.transaction(async (trx) => {
        await (options.alone === true ? lockUser(trx, userId) : shareUser(trx, userId));
        const session = await trx('web_sessions')
            .where({ id: sessionId, user_id: userId })
            .where('expires_at', '>', now(trx))
            .forKeyShare()
            .first('id');
        if (session === undefined) throw new SessionEnded();
        return work(trx);
    });
}

/**
 * Holds off whatever ends sessions of the user until the end of the transaction.
 * @param revision what the sign-in was checked at
 * @throws SessionEnded if sessions were ended since
 */
export async function holdRevision(trx: Db, userId: string, revision: number): Promise<void> {
    await shareUser(trx, userId);
    // A statement of its own: it sees what the lock waited for.
    const user = await trx('users').where({ id: userId, sign_in_revision: revision, deleted_at: null }).first('id');
    if (user === undefined) throw new SessionEnded();
}

/** Holds a user's row alone, before anything of the user is read that a session under way might add to. */
export async function lockUser(trx: Db, userId: string): Promise<void> {
    await trx('users').where({ id: userId }).forUpdate().select('id');
}

async function shareUser(trx: Db, userId: string): Promise<void> {
    await trx('users').where({ id: userId }).forKeyShare().select('id');
}

/** Sign-ins under way begin no session; resolves with the revision that holds from now on. The user's row is held alone. */
async function raiseRevision(trx: Db, userId: string): Promise<number> {
    const [user] = await trx('users').where({ id: userId }).increment('sign_in_revision').returning('sign_in_revision');
    return user?.sign_in_revision ?? 0;
}
