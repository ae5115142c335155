import { randomBytes } from 'node:crypto';
import type { Db } from '../db.ts';
import { isWebToken, webTokenHash } from '../domain/web-token.ts';
import type { Secrets } from '../secrets.ts';

/** What opening a link does: confirms the address, lets in whoever forgot the password, or brings a new address. */
export type LinkPurpose = 'verify' | 'reset' | 'change';

export interface MailLink {
    purpose: LinkPurpose;
    userId: string;
    /** Whoever opens the link reads this address. */
    address: string;
}

const LASTS_SECONDS: Readonly<Record<LinkPurpose, number>> = { verify: 7 * 86_400, reset: 3600, change: 86_400 };

const PURPOSE = 'mail link';
/** Base64url of 16 bytes, and of the HMAC behind it. */
const [ID_LENGTH, MAC_LENGTH] = [22, 43];

/**
 * Makes a link and resolves with its id, of which the table keeps a hash; those of the same purpose that the user got before end.
 * Its token is made when the mail is sent.
 */
export async function makeLink(db: Db, { purpose, userId, address }: MailLink): Promise<string> {
    const id = randomBytes(16).toString('base64url');
    await db.raw('delete from mail_links where user_id = ? and purpose = ?', [userId, purpose]);
    await db.raw(
        `insert into mail_links (token_hash, purpose, user_id, address, expires_at)
         values (?, ?, ?, ?, app_now() + ? * interval '1 second')`,
        [webTokenHash(id), purpose, userId, address, LASTS_SECONDS[purpose]],
    );
    return id;
}

/** The token of a link: nobody makes it from the database without the key ring. */
export async function tokenOfLink(secrets: Secrets, id: string): Promise<string> {
    return id + (await secrets.hmac(id, PURPOSE)).toString('base64url');
}

/** What a link is for, without using it up; undefined where it is unknown, used or too old. */
export async function findLink(db: Db, secrets: Secrets, token: string | undefined): Promise<MailLink | undefined> {
    const key = await keyOf(secrets, token);
    if (key === undefined) return undefined;
    const { rows } = await db.raw<{ rows: LinkColumns[] }>(
        'select purpose, user_id, address from mail_links where token_hash = ? and expires_at > app_now()',
        [key],
    );
    return rows[0] && { purpose: rows[0].purpose, userId: rows[0].user_id, address: rows[0].address };
}

/** Uses a link up: of two at once, one gets it. */
export async function useLink(db: Db, secrets: Secrets, token: string): Promise<MailLink | undefined> {
    const key = await keyOf(secrets, token);
    if (key === undefined) return undefined;
    const { rows } = await db.raw<{ rows: LinkColumns[] }>(
        'delete from mail_links where token_hash = ? and expires_at > app_now() returning purpose, user_id, address',
        [key],
    );
    return rows[0] && { purpose: rows[0].purpose, userId: rows[0].user_id, address: rows[0].address };
}

/** What the table has of a token that the ring made. Mails of releases before the ring have a random token instead. */
async function keyOf(secrets: Secrets, token: string | undefined): Promise<Buffer | undefined> {
    if (token?.length !== ID_LENGTH + MAC_LENGTH) return isWebToken(token) ? webTokenHash(token) : undefined;
    const [id, mac] = [token.slice(0, ID_LENGTH), token.slice(ID_LENGTH)];
    const isOurs = /^[\w-]+$/.test(token) && (await secrets.isHmac(Buffer.from(mac, 'base64url'), id, PURPOSE));
    return isOurs ? webTokenHash(id) : undefined;
}

interface LinkColumns {
    purpose: LinkPurpose;
    user_id: string;
    address: string;
}
