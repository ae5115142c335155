import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/call.ts';
import type { Values } from '../../shared/domain/types.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import * as results from '../../shared/store/fetch/results.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';

/**
 * A recent result of the same read that this account paid for (docs/api.md, "Hosted fetch"). Undefined where there is none, or the caller
 * did not ask for one.
 */
export async function findKept(call: FetchCall, found: Found, values: Values): Promise<{ text: string; results: number } | undefined> {
    const { app, body } = call;
    if (!mayAsk(body, found)) return undefined;
    const { accountId } = call.caller as Caller;
    const place = { accountId, question: questionOf(body, found, values) };
    return results.findResult(app.db, app.secrets, place, body.max_age ?? 0);
}

/** Stores a result for `findKept`, where the caller asked for it and the site allows it. Never throws: the answer is already paid for. */
export async function keepResult(
    call: FetchCall,
    found: Found,
    values: Values,
    outcome: FetchOutcome & { ok: true },
    charged: number,
): Promise<void> {
    const { app, body, operation } = call;
    if (!mayAsk(body, found) || !outcome.mayKeep || outcome.truncated || charged === 0) return;
    const { text } = outcome;
    if (Buffer.byteLength(text) > results.RESULT_BYTES) return;
    const { accountId } = call.caller as Caller;
    try {
        const place = { accountId, question: questionOf(body, found, values) };
        await results.keepResult(app.db, app.secrets, place, { text, results: outcome.results });
    } catch (error) {
        app.log.warn({ part: 'results', operation, err: error }, 'a result could not be kept');
    }
}

function mayAsk({ max_age: maxAge = 0 }: FetchRequest, { endpoint }: Found): boolean {
    return maxAge > 0 && endpoint.effect === 'read';
}

/** The hash of everything that decides the result; caps and timeouts do not. Results of releases without encryption have other hashes. */
function questionOf({ max_results: maxResults }: FetchRequest, { versionId, endpoint }: Found, values: Values): string {
    const question = canonicalize(['sealed', versionId, endpoint.name, values, maxResults ?? null]) ?? '';
    return createHash('sha256').update(question, 'utf8').digest('hex');
}
