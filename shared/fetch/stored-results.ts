import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { App } from '../app.ts';
import * as results from '../store/fetch/results.ts';
import type { Admitted } from './admit.ts';
import type { FetchOrder } from './order.ts';
import type { Settled } from './settle.ts';

/** A recent result of the same read that this account has paid for (docs/api.md, "Hosted fetch"), if the caller accepts one. */
export async function findStored(app: App, order: FetchOrder, admitted: Admitted): Promise<results.StoredResult | undefined> {
    const question = resultKeyOf(order, admitted);
    if (question === null) return undefined;
    const place = { accountId: order.caller.accountId, question };
    return results.findResult(app.db, app.secrets, place, order.body.max_age ?? 0);
}

/** Stores a result for `findStored`, if the caller and the site allow it. Never throws, because the answer has already been paid for. */
export async function keepResult(
    app: App,
    order: FetchOrder,
    admitted: Admitted,
    { outcome, charged }: Settled & { ok: true },
): Promise<void> {
    const question = resultKeyOf(order, admitted);
    if (question === null || !outcome.mayKeep || outcome.truncated || charged === 0) return;
    const { text, results: count, paginationEnd } = outcome;
    if (Buffer.byteLength(text) > results.MAX_KEPT_BYTES) return;
    try {
        const place = { accountId: order.caller.accountId, question };
        const result = { text, results: count, ...(paginationEnd === undefined ? {} : { paginationEnd }) };
        await results.keepResult(app.db, app.secrets, place, result);
    } catch (error) {
        app.log.warn({ part: 'results', operation: order.operation, err: error }, 'a result could not be stored');
    }
}

/**
 * The hash of everything that decides the result; null if the caller accepts no stored result. Caps and timeouts are not part of it.
 * Releases that stored results in another form used other hashes.
 */
export function resultKeyOf({ body }: FetchOrder, { found, values, connection }: Admitted): string | null {
    const { max_age: maxAge = 0, max_results: maxResults, max_pages: maxPages, cursor, partial } = body;
    if (maxAge === 0 || found.endpoint.effect !== 'read') return null;
    const whose = connection === undefined ? [] : [connection.connectionId];
    const isWalk = maxPages !== undefined || cursor !== undefined || partial !== undefined;
    const walk = isWalk ? [{ maxPages: maxPages ?? null, cursor: cursor ?? null, partial: partial ?? false }] : [];
    const parts = ['sealed with its end', found.versionId, found.endpoint.name, values, maxResults ?? null, ...whose, ...walk];
    return hash('sha256', canonicalize(parts) ?? '');
}
