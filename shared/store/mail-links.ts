import type { Db } from '../db.ts';
import { newWebToken, webTokenHash } from '../domain/web-token.ts';

/** What opening a link does: confirms the address, lets in whoever forgot the password, or brings a new address. */
export type LinkPurpose = 'verify' | 'reset' | 'change';

export interface MailLink {
    purpose: LinkPurpose;
    userId: string;
    /** Whoever opens the link reads this address. */
    address: string;
}

const LASTS_SECONDS: Readonly<Record<LinkPurpose, number>> = { verify: 7 * 86_400, reset: 3600, change: 86_400 };

/** Makes the token of a new link; those of the same purpose that the user got before end. */
export async function makeLink(db: Db, { purpose, userId, address }: MailLink): Promise<string> {
    const token = newWebToken();
    await db.raw('delete from mail_links where user_id = ? and purpose = ?', [userId, purpose]);
    await db.raw(
        `insert into mail_links (token_hash, purpose, user_id, address, expires_at)
         values (?, ?, ?, ?, app_now() + ? * interval '1 second')`,
        [webTokenHash(token), purpose, userId, address, LASTS_SECONDS[purpose]],
    );
    return token;
}

/** What a link is for, without using it up; undefined where it is unknown, used or too old. */
export async function findLink(db: Db, token: string): Promise<MailLink | undefined> {
    const { rows } = await db.raw<{ rows: LinkColumns[] }>(
        'select purpose, user_id, address from mail_links where token_hash = ? and expires_at > app_now()',
        [webTokenHash(token)],
    );
    return rows[0] && { purpose: rows[0].purpose, userId: rows[0].user_id, address: rows[0].address };
}

/** Uses a link up: of two at once, one gets it. */
export async function useLink(db: Db, token: string): Promise<MailLink | undefined> {
    const { rows } = await db.raw<{ rows: LinkColumns[] }>(
        'delete from mail_links where token_hash = ? and expires_at > app_now() returning purpose, user_id, address',
        [webTokenHash(token)],
    );
    return rows[0] && { purpose: rows[0].purpose, userId: rows[0].user_id, address: rows[0].address };
}

interface LinkColumns {
    purpose: LinkPurpose;
    user_id: string;
    address: string;
}
