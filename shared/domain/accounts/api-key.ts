import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, randomBase62 } from '../text/ids.ts';

/** Prefixes of our secrets: API keys, and tokens and codes of apps. */
const STARTS = { key: 'rb_live_', access: 'rb_oat_', refresh: 'rb_ort_', code: 'rb_oac_' } as const;
export type SecretKind = keyof typeof STARTS;
const SECRET_LENGTH = 30;
const CHECK_LENGTH = 6;
const SHOWN_LENGTH = 12;
const FORM = new RegExp(`^(${Object.values(STARTS).join('|')})([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECK_LENGTH}})$`);

/** `rb_live_`, 30 random base62 characters (178 bits) and 6 check characters (docs/api.md, "API keys"). Never stored. */
export function newApiKey(): string {
    return newSecret('key');
}

/** A new token or code of an app's grant, in the same format (docs/guide-agent.md, "Apps"). */
export function newSecret(kind: SecretKind): string {
    const secret = randomBase62(SECRET_LENGTH);
    return STARTS[kind] + secret + checkOf(secret);
}

/** Whether `text` may be a key or an access token, by form and checksum. Needs no database query. */
export function isWellFormedKey(text: string): boolean {
    const kind = secretKind(text);
    return kind === 'key' || kind === 'access';
}

/** The kind of secret that `text` is, by form and checksum; undefined for anything else. */
export function secretKind(text: string): SecretKind | undefined {
    const [, start, secret, check] = FORM.exec(text) ?? [];
    if (secret === undefined || checkOf(secret) !== check) return undefined;
    return (Object.keys(STARTS) as SecretKind[]).find((kind) => STARTS[kind] === start);
}

/** The SHA-256 of the key, which is the only stored form. It needs no salt, because 178 bits cannot be guessed. */
export function keyHash(text: string): Buffer {
    return hash('sha256', text, 'buffer');
}

/** The first 12 characters, by which lists and logs name a key. They reveal 4 of its 30 secret characters. */
export function keyPrefix(text: string): string {
    return text.slice(0, SHOWN_LENGTH);
}

/** CRC-32/ISO-HDLC of the secret in base62. */
function checkOf(secret: string): string {
    return base62(crc32(secret), CHECK_LENGTH);
}
