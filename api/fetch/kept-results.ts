import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import type { FetchOutcome } from '../../shared/domain/fetch.ts';
import type { Values } from '../../shared/domain/types.ts';
import type { Caller } from '../../shared/store/keys.ts';
import * as results from '../../shared/store/results.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';

/**
 * A result of the same read that this account was charged for and that is young enough for the caller (CONTRACT section 4,
 * `max_age`). Undefined where there is none, or where the caller did not ask for one.
 */
export async function findKept(call: FetchCall, found: Found, values: Values): Promise<{ text: string; results: number } | undefined> {
    const { app, body } = call;
    if (!mayAsk(body, found)) return undefined;
    const { accountId } = call.caller as Caller;
    const place = { accountId, question: questionOf(body, found, values) };
    return results.findResult(app.db, app.secrets, place, body.max_age ?? 0);
}

/** Keeps a result for `findKept`, where the caller asked for that and the site allows it. Never fails: the answer is paid for. */
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

/**
 * Everything that decides the result, and nothing else: neither the cap on credits nor the time that the caller waits. Results of a
 * release that did not encrypt stand under other hashes.
 */
function questionOf({ max_results: maxResults }: FetchRequest, { versionId, endpoint }: Found, values: Values): string {
    const question = canonicalize(['sealed', versionId, endpoint.name, values, maxResults ?? null]) ?? '';
    return createHash('sha256').update(question, 'utf8').digest('hex');
}
