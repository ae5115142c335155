import { randomInt } from 'node:crypto';
import type { Plan } from '../../domain/accounts/plans.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import { newWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import { newId } from '../../domain/text/ids.ts';
import { ago, type Columns, columns, type Db, fromNow, now } from '../../platform/db.ts';
import { payerOf } from '../credits/accounts.ts';
import { dropPendingTotp } from './totp.ts';

/** The signed-in user and workspace. Every page of the dashboard reads them first. */
export interface SignedIn {
    /** `ses_…` */
    sessionId: string;
    userId: string;
    email: string;
    emailNormalised: string;
    isVerified: boolean;
    isSuspended: boolean;
    /** Whether the user signed in, or entered the password again, within the last 15 minutes. */
    isRecent: boolean;
    /** Whether the user has an authenticator app or a passkey. */
    hasFactor: boolean;
    /** Whether the user has ever made a charged fetch. */
    hasFetched: boolean;
    /** In the order of creation. */
    workspaces: Membership[];
    /** The last visited workspace, or the oldest one; undefined if the user has none. */
    current: Membership | undefined;
}

/** A workspace in the form that one of its members sees. */
export interface Membership {
    workspaceId: string;
    name: string;
    plan: Plan;
    role: Role;
    /** The account that pays for this member's calls in this workspace. */
    accountId: string;
    /** Whether its members need a second factor to see it. */
    demandsFactor: boolean;
}

interface SessionRow {
    sessionId: string;
    browser: string;
    /** The client address that used the session last; null for sessions from before addresses were recorded. */
    address: string | null;
    createdAt: Date;
    seenAt: Date;
}

const SESSION: Columns<SessionRow> = { sessionId: 'id', ...columns('', 'browser address created_at seen_at') };

/** A session ends this many days after the sign-in. */
export const SESSION_DAYS = 30;

/** A session ends after this many days without use. */
export const IDLE_DAYS = 14;

/** How long a confirmation is valid, in minutes. */
const CONFIRMED_MINUTES = 15;

/** How long a mailed code is valid, in minutes. */
const CODE_MINUTES = 10;

/** Maximum number of sessions of one user. A new session ends the one that has been unused for longest. */
const MAX_SESSIONS = 50;

/** The cookie contains the token, the table only its hash. Callers hold a lock on the revision of the sign-in. */
export async function beginSession(
    db: Db,
    { userId, browser, address }: { userId: string; browser: string; address: string },
): Promise<string> {
    const token = newWebToken();
    const newest = db('web_sessions')
        .where({ user_id: userId })
        .orderBy([{ column: 'seen_at', order: 'desc' }, 'id']);
    await db('web_sessions')
        .whereIn('id', newest.offset(MAX_SESSIONS - 1).select('id'))
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

/** Raw: every page begins with this single statement, which also reads the user, the factors and the workspaces. */
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
           s.workspace_id as "lastWorkspaceId", s.seen_at < app_now() - interval '1 hour' as "isStale"
    from web_sessions s join users u on u.id = s.user_id
    where s.token_hash = ? and s.expires_at > app_now() and s.seen_at > app_now() - interval '${IDLE_DAYS} days' and u.deleted_at is null`;

interface SignedInRow extends Omit<SignedIn, 'workspaces' | 'current'> {
    memberships: Omit<Membership, 'accountId'>[];
    /** The workspace that the session visited last. */
    lastWorkspaceId: string | null;
    isStale: boolean;
}

/** Undefined if the session is unknown, expired, idle or ended. Times of use have a precision of an hour. */
export async function findSignedIn(db: Db, token: string, address?: string): Promise<SignedIn | undefined> {
    const { rows } = await db.raw<{ rows: SignedInRow[] }>(SIGNED_IN, [webTokenHash(token)]);
    if (rows[0] === undefined) return undefined;
    const { memberships, lastWorkspaceId, isStale, ...who } = rows[0];
    if (isStale) await session(db, who.sessionId).update({ seen_at: now(db), address });
    const workspaces = memberships.map((membership) => ({
        ...membership,
        accountId: payerOf(membership.plan, membership.workspaceId, who.userId),
    }));
    return { ...who, workspaces, current: workspaces.find(({ workspaceId }) => workspaceId === lastWorkspaceId) ?? workspaces[0] };
}

function session(db: Db, sessionId: string) {
    return db('web_sessions').where({ id: sessionId });
}

export async function confirmSession(db: Db, sessionId: string): Promise<void> {
    await session(db, sessionId).update({ confirmed_at: now(db), code_hash: null, code_expires_at: null });
}

/** Creates a new code of eight digits for one session, which is mailed. The previous code becomes invalid. */
export async function makeSessionCode(db: Db, sessionId: string): Promise<string> {
    const code = String(randomInt(0, 100_000_000)).padStart(8, '0');
    const code_expires_at = fromNow(db, `${CODE_MINUTES} minutes`);
    await session(db, sessionId).update({ code_hash: codeHash(sessionId, code), code_expires_at });
    return code;
}

/** Whether this is the code of the session. A code works once. Callers limit the attempts. */
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

export async function endSession(db: Db, sessionId: string): Promise<void> {
    await session(db, sessionId).delete();
}

/** Ends a session of this user; false if the user has no session with this id. */
export async function endOwnSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const ended = await trx('web_sessions').where({ id: sessionId, user_id: userId }).delete();
        if (ended === 1) await dropPendingTotp(trx, userId);
        return ended === 1;
    });
}

/** Ends all sessions of a user, optionally except one, and all pending sign-ins. Resolves with the revision for new sign-ins. */
export async function endSessions(db: Db, userId: string, exceptId?: string): Promise<number> {
    return db.transaction(async (trx) => {
        await lockUser(trx, userId);
        await trx('web_sessions')
            .where({ user_id: userId })
            .whereNot({ id: exceptId ?? '' })
            .delete();
        await trx('sign_in_tickets').where({ user_id: userId }).delete();
        // Somebody with an ended session may have read its secret.
        await dropPendingTotp(trx, userId);
        return raiseRevision(trx, userId);
    });
}

/** The sessions of a user, last used first. */
export async function listSessions(db: Db, userId: string): Promise<SessionRow[]> {
    return db('web_sessions')
        .where({ user_id: userId })
        .where('expires_at', '>', now(db))
        .where('seen_at', '>', ago(db, `${IDLE_DAYS} days`))
        .orderBy([{ column: 'seen_at', order: 'desc' }, 'id'])
        .limit(100)
        .select(SESSION);
}

/** Sets the workspace that this session shows. Its user is a member. */
export async function selectWorkspace(db: Db, sessionId: string, workspaceId: string): Promise<void> {
    await session(db, sessionId).update({ workspace_id: workspaceId });
}

/** The session, or the credentials of the sign-in, changed meanwhile. */
export class SessionEnded extends Error {
    constructor() {
        super('the session was ended meanwhile');
        this.name = 'SessionEnded';
    }
}

/**
 * Runs work in a transaction during which the session cannot end. Ending sessions takes an exclusive lock on the user's row. So either this
 * work commits first, or it finds that the session has ended and does nothing.
 * @param options `alone`: the work itself ends sessions of the user or changes the user's credentials
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

/** Keeps the user's sessions from ending during the transaction. @throws SessionEnded if some ended since `revision` */
export async function holdRevision(trx: Db, userId: string, revision: number): Promise<void> {
    await shareUser(trx, userId);
    // A separate statement, so that it sees changes for which the lock waited.
    const user = await trx('users').where({ id: userId, sign_in_revision: revision, deleted_at: null }).first('id');
    if (user === undefined) throw new SessionEnded();
}

/** Takes an exclusive lock on a user's row. Call it before reading data of the user that a concurrent session might add to. */
export async function lockUser(trx: Db, userId: string): Promise<void> {
    await trx('users').where({ id: userId }).forUpdate().select('id');
}

async function shareUser(trx: Db, userId: string): Promise<void> {
    await trx('users').where({ id: userId }).forKeyShare().select('id');
}

/** Invalidates pending sign-ins. Resolves with the new revision. The caller holds an exclusive lock on the user's row. */
async function raiseRevision(trx: Db, userId: string): Promise<number> {
    const [user] = await trx('users').where({ id: userId }).increment('sign_in_revision').returning('sign_in_revision');
    return user?.sign_in_revision ?? 0;
}
