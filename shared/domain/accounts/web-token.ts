import { createHash, randomBytes } from 'node:crypto';

/** A new secret of a cookie or of a mailed link: 256 bits, 43 characters of base64url. */
export function newWebToken(): string {
    return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token: the only form in which it is stored. Nobody can guess 256 bits, so no salt is needed. */
export function webTokenHash(token: string): Buffer {
    return createHash('sha256').update(token, 'utf8').digest();
}

/** Whether a text could be a token of ours, so that anything else costs no look at the database. */
export function isWebToken(text: string | undefined): text is string {
    return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}
