import { webTokenHash } from '../../domain/accounts/web-token.ts';
import type { Db } from '../../platform/db.ts';

/** How somebody proved who they are. */
export type How = 'sign-up' | 'password' | 'mailed link' | 'password and code' | 'password and recovery code' | 'passkey';

export interface SignIn {
    at: Date;
    how: How;
    /** A User-Agent header. */
    browser: string;
    address: string;
    isNewBrowser: boolean;
}

/** Sign-ins that a user sees. */
const SHOWN = 20;
/** The most known browsers of a user; the one with the oldest sign-in is forgotten first. */
const MOST_BROWSERS = 50;

/** Records a sign-in; whether this browser, which `browserToken` names, signed this user in before. */
export async function recordSignIn(
    db: Db,
    { userId, how, browser, address, browserToken }: { userId: string; how: How; browser: string; address: string; browserToken: string },
): Promise<{ isKnown: boolean }> {
    const isKnown = await isKnownBrowser(db, userId, browserToken);
    await knowBrowser(db, userId, browserToken);
    await db.raw('insert into sign_ins (user_id, how, browser, address, is_new_browser) values (?, ?, ?, ?, ?)', [
        userId,
        how,
        browser.slice(0, 200),
        address,
        !isKnown,
    ]);
    await db.raw('delete from sign_ins where id in (select id from sign_ins where user_id = ? order by id desc offset ?)', [userId, SHOWN]);
    await db.raw(
        `delete from known_browsers where (user_id, token_hash) in (
             select user_id, token_hash from known_browsers where user_id = ? order by signed_in_at desc, token_hash offset ?)`,
        [userId, MOST_BROWSERS],
    );
    return { isKnown };
}

/** Marks this browser as known: the user signed in or up with it. */
export async function knowBrowser(db: Db, userId: string, browserToken: string): Promise<void> {
    await db.raw(
        `insert into known_browsers (user_id, token_hash) values (?, ?)
         on conflict (user_id, token_hash) do update set signed_in_at = app_now()`,
        [userId, webTokenHash(browserToken)],
    );
}

/** Whether a browser is known for this user. */
export async function isKnownBrowser(db: Db, userId: string, browserToken: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from known_browsers where user_id = ? and token_hash = ?', [
        userId,
        webTokenHash(browserToken),
    ]);
    return rows.length > 0;
}

/** The last sign-ins of a user, the newest first. */
export async function listSignIns(db: Db, userId: string): Promise<SignIn[]> {
    const { rows } = await db.raw<{ rows: SignIn[] }>(
        `select at, how, browser, address, is_new_browser as "isNewBrowser" from sign_ins where user_id = ? order by id desc limit ?`,
        [userId, SHOWN],
    );
    return rows;
}

/** Deletes a user's sign-ins and known browsers. */
export async function forgetSignIns(db: Db, userId: string): Promise<void> {
    for (const table of ['sign_ins', 'known_browsers']) await db.raw('delete from ?? where user_id = ?', [table, userId]);
}
