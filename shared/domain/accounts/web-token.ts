import { createHash, randomBytes } from 'node:crypto';

/** A new secret for a cookie or a mailed link: 256 bits, 43 characters of base64url. */
export function newWebToken(): string {
    return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token, which is the only stored form. Nobody can guess 256 bits, so no salt is needed. */
export function webTokenHash(token: string): Buffer {
    return createHash('sha256').update(token, 'utf8').digest();
}

/** Whether a text may be a token of this format. Avoids a database query for any other text. */
export function isWebToken(text: string | undefined): text is string {
    return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}
