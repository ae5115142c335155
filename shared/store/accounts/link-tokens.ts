import { randomBytes } from 'node:crypto';
import { isWebToken, webTokenHash } from '../../domain/accounts/web-token.ts';
import type { Secrets } from '../../platform/secrets.ts';

const PURPOSE = 'mail link';
/** Base64url of 16 bytes, and of the HMAC behind it. */
const [ID_LENGTH, MAC_LENGTH] = [22, 43];

/** A new link: mails keep its id, the table of its kind keeps a hash of it, and its token is made when the mail is sent. */
export function newLinkId(): string {
    return randomBytes(16).toString('base64url');
}

/** The form in which a table keeps an id. */
export function linkHash(id: string): Buffer {
    return webTokenHash(id);
}

/** The token of a link: nobody makes it from the database without the key ring. */
export async function tokenOfLink(secrets: Secrets, id: string): Promise<string> {
    return id + (await secrets.hmac(id, PURPOSE)).toString('base64url');
}

/**
 * What a table keeps of the link with this token; undefined for a token that the ring did not make. Releases before the ring mailed random
 * tokens, whose hash is kept.
 */
export async function linkHashOf(secrets: Secrets, token: string | undefined): Promise<Buffer | undefined> {
    if (token?.length !== ID_LENGTH + MAC_LENGTH) return isWebToken(token) ? webTokenHash(token) : undefined;
    const [id, mac] = [token.slice(0, ID_LENGTH), token.slice(ID_LENGTH)];
    const isOurs = /^[\w-]+$/.test(token) && (await secrets.isHmac(Buffer.from(mac, 'base64url'), id, PURPOSE));
    return isOurs ? linkHash(id) : undefined;
}
