import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from '../types.ts';

/**
 * Creates cursors of a list (docs/api.md, "Paging"). A cursor contains the position at which the next page begins, authenticated together
 * with the query, so that a forged cursor or one of another query is detected. `query` contains everything that decides the rows and their order:
 * the name of the route and its parameters, without `limit` and `cursor`.
 */
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

/** Makes the 128-bit MACs of one query in base64url. */
function sealer(key: Uint8Array, query: Json): (text: string) => string {
    const secret = createSecretKey(key);
    const head = `${canonicalize(query)}\n`;
    return (text) =>
        createHmac('sha256', secret)
            .update(head + text)
            .digest()
            .toString('base64url', 0, 16);
}
