import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type IdPrefix = 'usr' | 'wsp' | 'key' | 'ses' | 'req' | 'srq' | 'op';

/** A new opaque id, `<prefix>_` and 22 base62 characters (131 bits): ids never collide and tell nothing. */
export function newId(prefix: IdPrefix): string {
    return `${prefix}_${randomBase62(22)}`;
}

/** `length` characters drawn evenly from 0-9A-Za-z. */
export function randomBase62(length: number): string {
    let text = '';
    while (text.length < length) {
        for (const byte of randomBytes(length)) {
            // 248 is the largest multiple of 62 in a byte: values above it would favour the first letters.
            if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
        }
    }
    return text;
}
