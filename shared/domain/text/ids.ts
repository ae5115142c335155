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
