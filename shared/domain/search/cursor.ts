import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json } from '../types.ts';

/**
 * Cursors of lists (docs/api.md, "Paging"): the place where the next page begins, sealed together with the query that it belongs to, so
 * that a cursor of another query, or one that somebody made up, is told from ours. `query` is everything that decides which rows there
 * are and in which order: the name of the route and its parameters, without `limit` and `cursor`.
 */
export function sealCursor(key: Uint8Array, query: Json, place: Json): string {
    const text = Buffer.from(JSON.stringify(place)).toString('base64url');
    return `${text}.${sealOf(key, query, text)}`;
}

/** The place in a cursor; undefined if it was not issued for this very query. Never throws, whatever the text is. */
export function openCursor(key: Uint8Array, query: Json, cursor: string): Json | undefined {
    const [, text = '', seal = ''] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/.exec(cursor) ?? [];
    if (seal === '' || !timingSafeEqual(Buffer.from(seal), Buffer.from(sealOf(key, query, text)))) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
}

/** 128 bits, in base64url. */
function sealOf(key: Uint8Array, query: Json, text: string): string {
    const sealed = `${canonicalize(query)}\n${text}`;
    return createHmac('sha256', key).update(sealed).digest().subarray(0, 16).toString('base64url');
}
