import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from '../types.ts';

/**
 * Creates the cursor of a list (docs/api.md, "Paging"). It contains the position at which the next page begins, authenticated together with
 * the query. So a cursor of another query or a forged one is detected. `query` contains everything that decides the rows and their order:
 * the name of the route and its parameters, without `limit` and `cursor`.
 */
export function sealCursor(key: Uint8Array, query: Json, place: Json): string {
    const text = Buffer.from(JSON.stringify(place)).toString('base64url');
    return `${text}.${sealOf(key, query, text)}`;
}

/** The position in a cursor; undefined if it was not created for the same query. Never throws for any text. */
export function openCursor(key: Uint8Array, query: Json, cursor: string): Json | undefined {
    const [, text = '', seal = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/.exec(cursor) ?? [];
    if (seal === '' || !timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(key, query, text)))) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
}

/** A 128-bit MAC in base64url. */
function sealOf(key: Uint8Array, query: Json, text: string): string {
    const sealed = `${canonicalize(query)}\n${text}`;
    return createHmac('sha256', key).update(sealed).digest().subarray(0, 16).toString('base64url');
}
