import { randomBytes } from 'node:crypto';
import { webTokenHash } from '../../domain/accounts/web-token.ts';
import { type Columns, type Db, fromNow, now } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';

/** The action of a link: confirm the address, reset the password, or change the address. */
export type LinkPurpose = 'verify' | 'reset' | 'change';

export interface MailLink {
    purpose: LinkPurpose;
    userId: string;
    address: string;
}

const LINK: Columns<MailLink> = { purpose: 'purpose', userId: 'user_id', address: 'address' };

const LASTS = { verify: '7 days', reset: '1 hours', change: '1 days' } as const;

/** Resolves with the id of the link, of which the table has only a hash. Ends earlier links of the user with this purpose. */
export async function makeLink(db: Db, { purpose, userId, address }: MailLink): Promise<string> {
    const id = newLinkId();
    await db('mail_links').where({ user_id: userId, purpose }).delete();
    await db('mail_links').insert({ token_hash: linkHash(id), purpose, user_id: userId, address, expires_at: fromNow(db, LASTS[purpose]) });
    return id;
}

/** Reads the purpose of a link without using it; undefined if the link is unknown, used or expired. */
export async function findLink(db: Db, secrets: Secrets, token: string | undefined): Promise<MailLink | undefined> {
    const hash = await linkHashOf(secrets, token);
    return hash && queryLive(db, hash).first(LINK);
}

/** Uses a link. Of two concurrent calls, one succeeds. */
export async function useLink(db: Db, secrets: Secrets, token: string): Promise<MailLink | undefined> {
    const hash = await linkHashOf(secrets, token);
    if (hash === undefined) return undefined;
    const [used] = await queryLive(db, hash).delete().returning(['purpose', 'user_id as userId', 'address']);
    return used;
}

function queryLive(db: Db, hash: Buffer) {
    return db('mail_links').where({ token_hash: hash }).where('expires_at', '>', now(db));
}

const PURPOSE = 'mail link';
/** Length of 16 bytes in base64url, and of the HMAC that follows them. */
const [ID_LENGTH, MAC_LENGTH] = [22, 43];

/** A new id of a link. Mails contain it, its table a hash; the token is created when the mail is sent. */
export function newLinkId(): string {
    return randomBytes(16).toString('base64url');
}

export function linkHash(id: string): Buffer {
    return webTokenHash(id);
}

/** The token of a link. Without the key ring it cannot be derived from the database. */
export async function tokenOfLink(secrets: Secrets, id: string): Promise<string> {
    return id + (await secrets.hmac(id, PURPOSE)).toString('base64url');
}

/** Undefined for a token that the key ring did not create. */
export async function linkHashOf(secrets: Secrets, token: string | undefined): Promise<Buffer | undefined> {
    if (token?.length !== ID_LENGTH + MAC_LENGTH) return undefined;
    const [id, mac] = [token.slice(0, ID_LENGTH), token.slice(ID_LENGTH)];
    const isOurs = /^[\w-]+$/.test(token) && (await secrets.isHmac(Buffer.from(mac, 'base64url'), id, PURPOSE));
    return isOurs ? linkHash(id) : undefined;
}
