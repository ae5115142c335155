import { newWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import { type Columns, columns, type Db, fromNow, now } from '../../platform/db.ts';

export type How = 'sign-up' | 'password' | 'mailed link' | 'password and code' | 'password and recovery code' | 'passkey';

interface SignIn {
    at: Date;
    how: How;
    /** The User-Agent header. */
    browser: string;
    address: string;
    isNewBrowser: boolean;
}

const SIGN_IN: Columns<SignIn> = columns('', 'at how browser address is_new_browser');

const SHOWN = 20;
/** Maximum number of known browsers of a user. The browser with the oldest sign-in is deleted first. */
const MAX_BROWSERS = 50;

/** Records a sign-in. Returns whether this user has signed in before with the browser that `browserToken` identifies. */
export async function recordSignIn(
    db: Db,
    { userId, how, browser, address, browserToken }: { userId: string; how: How; browser: string; address: string; browserToken: string },
): Promise<{ isKnown: boolean }> {
    const isKnown = await isKnownBrowser(db, userId, browserToken);
    await knowBrowser(db, userId, browserToken);
    await db('sign_ins').insert({ user_id: userId, how, browser: browser.slice(0, 200), address, is_new_browser: !isKnown });
    const ofUser = { user_id: userId };
    const older = db('sign_ins').where(ofUser).orderBy('id', 'desc').offset(SHOWN).select('id');
    await db('sign_ins').whereIn('id', older).delete();
    const browsers = db('known_browsers')
        .where(ofUser)
        .orderBy([{ column: 'signed_in_at', order: 'desc' }, 'token_hash']);
    await db('known_browsers').where(ofUser).whereIn('token_hash', browsers.offset(MAX_BROWSERS).select('token_hash')).delete();
    return { isKnown };
}

/** Marks this browser as known, because the user signed in or up with it. */
export async function knowBrowser(db: Db, userId: string, browserToken: string): Promise<void> {
    await db('known_browsers')
        .insert({ user_id: userId, token_hash: webTokenHash(browserToken) })
        .onConflict(['user_id', 'token_hash'])
        .merge({ signed_in_at: now(db) });
}

export async function isKnownBrowser(db: Db, userId: string, browserToken: string): Promise<boolean> {
    const known = await db('known_browsers')
        .where({ user_id: userId, token_hash: webTokenHash(browserToken) })
        .first('user_id');
    return known !== undefined;
}

/** The last sign-ins of a user, newest first. */
export async function listSignIns(db: Db, userId: string): Promise<SignIn[]> {
    return db('sign_ins').where({ user_id: userId }).orderBy('id', 'desc').limit(SHOWN).select(SIGN_IN);
}

export async function forgetSignIns(db: Db, userId: string): Promise<void> {
    for (const table of ['sign_ins', 'known_browsers']) await db(table).where({ user_id: userId }).delete();
}

/** Maximum time between the correct password and the second factor, in minutes. */
const TICKET_MINUTES = 10;

/** The user who entered the correct password, and the sign-in revision at that time. */
interface TicketHolder {
    userId: string;
    revision: number;
}

/** Creates a ticket. It proves the correct password in the form that asks for the second factor. */
export async function makeTicket(db: Db, { userId, revision }: TicketHolder): Promise<string> {
    const token = newWebToken();
    const expires_at = fromNow(db, `${TICKET_MINUTES} minutes`);
    await db('sign_in_tickets').insert({ token_hash: webTokenHash(token), user_id: userId, revision, expires_at });
    return token;
}

/** The holder of a ticket. The ticket stays valid. */
export async function findTicket(db: Db, token: string): Promise<TicketHolder | undefined> {
    return db('sign_in_tickets')
        .where({ token_hash: webTokenHash(token) })
        .where('expires_at', '>', now(db))
        .first({ userId: 'user_id', revision: 'revision' });
}

/** Uses a ticket. Of two concurrent calls, one succeeds. */
export async function useTicket(db: Db, token: string): Promise<boolean> {
    const used = await db('sign_in_tickets')
        .where({ token_hash: webTokenHash(token) })
        .delete();
    return used === 1;
}
