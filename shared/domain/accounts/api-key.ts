import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62 } from '../text/ids.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const START = 'rb_live_';
const SECRET_LENGTH = 30;
const CHECK_LENGTH = 6;
const SHOWN_LENGTH = 12;
const FORM = new RegExp(`^${START}([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECK_LENGTH}})$`);

/** A new API key, `rb_live_`, 30 random base62 characters (178 bits) and 6 that check them (docs/api.md, "API keys"). Shown once, never stored. */
export function newApiKey(): string {
    const secret = randomBase62(SECRET_LENGTH);
    return START + secret + checkOf(secret);
}

/** Whether `text` has the form and checksum of our keys. It needs no database query. */
export function isWellFormedKey(text: string): boolean {
    const parts = FORM.exec(text);
    return parts?.[1] !== undefined && checkOf(parts[1]) === parts[2];
}

/** The SHA-256 of the key, the only stored form. It needs no salt, since 178 bits cannot be guessed. */
export function keyHash(text: string): Buffer {
    return hash('sha256', text, 'buffer');
}

/** The first 12 characters, by which lists and logs name a key; they tell 4 of its 30 secret characters. */
export function keyPrefix(text: string): string {
    return text.slice(0, SHOWN_LENGTH);
}

/** CRC-32/ISO-HDLC of the secret in base62, left-padded with 0. */
function checkOf(secret: string): string {
    let rest = crc32(secret);
    let text = '';
    while (rest > 0) {
        text = (ALPHABET[rest % 62] ?? '') + text;
        rest = Math.floor(rest / 62);
    }
    return text.padStart(CHECK_LENGTH, '0');
}
