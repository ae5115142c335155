import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import type { Values } from '../domain/types.ts';
import * as results from '../store/fetch/results.ts';
import type { Admitted, Found } from './admit.ts';
import type { FetchOrder } from './order.ts';
import type { Settled } from './settle.ts';

/**
 * A recent result of the same read that this account has paid for (docs/api.md, "Hosted fetch"). Undefined if none exists or the caller did
 * not ask for one.
 */
export async function findStored(
    app: App,
    { body, caller }: FetchOrder,
    { found, values, connection }: Admitted,
): Promise<results.StoredResult | undefined> {
    if (!isCacheable(body, found)) return undefined;
    const place = { accountId: caller.accountId, question: resultKeyOf(body, found, values, connection) };
    return results.findResult(app.db, app.secrets, place, body.max_age ?? 0);
}

/**
 * Stores a result for `findStored`, if the caller asked for it and the site allows it. Never throws, because the answer has already been
 * paid for.
 */
export async function keepResult(
    app: App,
    { body, caller, operation }: FetchOrder,
    { found, values, connection }: Admitted,
    { outcome, charged }: Settled & { ok: true },
): Promise<void> {
    if (!isCacheable(body, found) || !outcome.mayKeep || outcome.truncated || charged === 0) return;
    const { text, paginationEnd } = outcome;
    if (Buffer.byteLength(text) > results.RESULT_BYTES) return;
    try {
        const place = { accountId: caller.accountId, question: resultKeyOf(body, found, values, connection) };
        await results.keepResult(app.db, app.secrets, place, {
            text,
            results: outcome.results,
            ...(paginationEnd === undefined ? {} : { paginationEnd }),
        });
    } catch (error) {
        app.log.warn({ part: 'results', operation, err: error }, 'a result could not be stored');
    }
}

export function resultKeyFor({ body }: FetchOrder, { found, values, connection }: Admitted): string | undefined {
    return isCacheable(body, found) ? resultKeyOf(body, found, values, connection) : undefined;
}

function isCacheable({ max_age: maxAge = 0 }: FetchRequest, { endpoint }: Found): boolean {
    return maxAge > 0 && endpoint.effect === 'read';
}

/** The hash of everything that decides the result. Caps and timeouts are not part of it. Releases that stored results in another form used other hashes. */
function resultKeyOf(
    { max_results: maxResults, max_pages: maxPages, cursor, partial }: FetchRequest,
    { versionId, endpoint }: Found,
    values: Values,
    connection: Admitted['connection'],
): string {
    const whose = connection === undefined ? [] : [connection.connectionId];
    const isWalk = maxPages !== undefined || cursor !== undefined || partial !== undefined;
    const walk = isWalk ? [{ maxPages: maxPages ?? null, cursor: cursor ?? null, partial: partial ?? false }] : [];
    const question = canonicalize(['sealed with its end', versionId, endpoint.name, values, maxResults ?? null, ...whose, ...walk]) ?? '';
    return createHash('sha256').update(question, 'utf8').digest('hex');
}
