import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

type IdPrefix =
    | 'usr'
    | 'wsp'
    | 'key'
    | 'ses'
    | 'req'
    | 'srq'
    | 'op'
    | 'inv'
    | 'chk'
    | 'ntc'
    | 'pky'
    | 'clm'
    | 'rmv'
    | 'evt'
    | 'whk'
    | 'dlv'
    | 'con'
    | 'job'
    | 'mon'
    | 'run'
    | 'chg'
    | 'bat'
    | 'rep'
    | 'app';

/** A new opaque id: `<prefix>_` and 22 base62 characters (131 bits). Ids never collide and reveal nothing. */
export function newId(prefix: IdPrefix): string {
    return `${prefix}_${randomBase62(22)}`;
}

/** Whether a text from outside can be such an id. A text may contain NUL, which the database rejects. */
export function isId(prefix: IdPrefix, text: string): boolean {
    return text.startsWith(`${prefix}_`) && /^[0-9A-Za-z]{1,64}$/.test(text.slice(prefix.length + 1));
}

/** Characters of the time in an id that begins with it. */
const TIME_LENGTH = 8;

/**
 * A new id of a row that each call, look-up or event adds: its prefix, its time and 14 random characters (83 bits). So rows enter the
 * indexes of large tables at the end. With random ids each changes another page, which PostgreSQL writes to its log as a whole after each
 * checkpoint (bench/PROFILE.md). `op` is a call or another movement of credits.
 * @param at milliseconds since the epoch
 */
export function newTimedId(prefix: 'op' | 'job' | 'evt' | 'ses', at: number): string {
    return `${prefix}_${base62(at, TIME_LENGTH)}${randomBase62(22 - TIME_LENGTH)}`;
}

/** The number with leading zeros. Texts of one length are ordered like their numbers. */
export function base62(number: number, length: number): string {
    let text = '';
    for (let rest = number; text.length < length; rest = Math.floor(rest / 62)) text = `${ALPHABET[rest % 62]}${text}`;
    return text;
}

/** `length` random characters of 0-9A-Za-z, uniformly distributed. */
export function randomBase62(length: number): string {
    let text = '';
    while (text.length < length) {
        for (const byte of randomBytes(length)) {
            // 248 is the largest multiple of 62 in a byte. Larger values would favour the first letters.
            if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
        }
    }
    return text;
}
