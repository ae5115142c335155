import { hash, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from '../types.ts';

/**
 * Creates the cursor of a list (docs/api.md, "Paging"). It contains the position at which the next page begins, authenticated together with
 * the query. So a cursor of another query or a forged one is detected. `query` contains everything that decides the rows and their order:
 * the name of the route and its parameters, without `limit` and `cursor`.
 */
export function sealCursor(key: Uint8Array, query: Json, place: Json): string {
    return cursorSealer(key, query)(place);
}

/** Creates many cursors of one query. */
export function cursorSealer(key: Uint8Array, query: Json): (place: Json) => string {
    const seal = sealer(key, query);
    return (place) => {
        const text = Buffer.from(JSON.stringify(place)).toString('base64url');
        return `${text}.${seal(text)}`;
    };
}

/** The position in a cursor; undefined if it was not created for the same query. Never throws for any text. */
export function openCursor(key: Uint8Array, query: Json, cursor: string): Json | undefined {
    const [, text = '', seal = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/.exec(cursor) ?? [];
    if (seal === '' || !timingSafeEqual(Buffer.from(seal), Buffer.from(sealer(key, query)(text)))) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
}

/** The block of SHA-256, in bytes. */
const BLOCK = 64;

/** Makes the 128-bit MACs of one query in base64url: HMAC-SHA-256 (RFC 2104), in a third of the time that `createHmac` takes. */
function sealer(key: Uint8Array, query: Json): (text: string) => string {
    const inner = Buffer.concat([padded(key, 0x36), Buffer.from(`${canonicalize(query)}\n`)]);
    const outer = padded(key, 0x5c);
    return (text) => {
        const digest = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer');
        return hash('sha256', Buffer.concat([outer, digest]), 'buffer').toString('base64url', 0, 16);
    };
}

/** A key of at most one block, XORed with a byte. */
function padded(key: Uint8Array, byte: number): Buffer {
    const block = Buffer.alloc(BLOCK, byte);
    for (const [at, value] of key.entries()) block[at] = value ^ byte;
    return block;
}
