import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import { buildPrepareRequest, buildRequest, type Identity } from '../../shared/domain/fetch/build-request.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/call.ts';
import { atFirstPage } from '../../shared/domain/fetch/pages.ts';
import type { Price } from '../../shared/domain/package/pricing.ts';
import type { Endpoint, JsonObject, Values } from '../../shared/domain/types.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import { type AroundBalance, around } from '../answers/fetch-answer.ts';
import type { Reply } from '../serve.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';

/** The answer of a charged fetch, in two parts: between them goes the balance after the charge. @param done.charged credits */
export function presentFetch(done: {
    call: FetchCall;
    found: Found;
    outcome: FetchOutcome & { ok: true };
    charged: number;
    admittedAt: number;
    durationMs: number;
}): AroundBalance {
    const { call, found, outcome } = done;
    const { status, attempts, durationMs, bytes } = outcome.upstream;
    return around(outcome.text, {
        credits_used: done.charged,
        request_id: call.requestId,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        results: outcome.results,
        truncated: outcome.truncated,
        cached: false,
        duration_ms: Math.round(done.durationMs),
        // The clocks of two machines differ a little.
        queue_ms: Math.max(0, Math.round(outcome.startedAt - done.admittedAt)),
        upstream: { status, attempts, duration_ms: Math.round(durationMs), bytes },
    });
}

/** The answer with a stored result that the account paid for before; the site is not called. */
export async function presentKept(
    call: FetchCall,
    found: Found,
    { text, results }: { text: string; results: number },
    began: number,
): Promise<Reply<FetchAnswer>> {
    const { app, caller } = call;
    const balance = caller === undefined ? undefined : await app.credits.balance(caller.accountId);
    const { head, tail } = around(text, {
        credits_used: 0,
        request_id: call.requestId,
        site: found.site,
        endpoint: found.endpoint.name,
        version: found.version,
        results,
        truncated: false,
        cached: true,
        duration_ms: Math.round(performance.now() - began),
    });
    return { text: `${head}${balance?.available ?? 0}${tail}`, isKept: false };
}

/** Answers a dry run: the request that would be sent, and its highest cost. Nothing is sent or charged. */
export async function presentDryRun(call: FetchCall, found: Found, values: Values, price: Price): Promise<Reply<FetchAnswer>> {
    const began = performance.now();
    const { app, caller } = call;
    const planned = planOf(found.endpoint, values, { userAgent: userAgent(app.publicUrl()) });
    const balance = caller === undefined ? undefined : await app.credits.balance(caller.accountId);
    return {
        answer: {
            success: true,
            data: { ...planned, credits_max: price.unit * price.maxUnits },
            meta: {
                credits_used: 0,
                credits_remaining: balance?.available ?? 0,
                request_id: call.requestId,
                site: found.site,
                endpoint: found.endpoint.name,
                version: found.version,
                duration_ms: Math.round(performance.now() - began),
            },
        },
    };
}

/** The first request: of an endpoint that prepares, the GET of its page, and what is filled in `then`; with pages, the first page. */
function planOf(endpoint: Endpoint, values: Values, identity: Identity): JsonObject {
    const first = atFirstPage(endpoint, values);
    const { prepare } = endpoint;
    const { method, url, headers, bodyShown } =
        prepare === undefined ? buildRequest(first.endpoint, first.values, identity) : buildPrepareRequest(prepare.url, identity);
    const request = { method, url, headers, body: bodyShown };
    // biome-ignore lint/suspicious/noThenProperty: the contract's name; it holds no function, so nothing waits for it.
    return prepare === undefined ? { request } : { request, then: { params: { ...first.values } } };
}
