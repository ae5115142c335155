import type { FetchAnswer, FetchRequest } from '../../shared/contracts/fetch.ts';
import { buildRequest } from '../../shared/domain/build-request.ts';
import type { FetchOutcome } from '../../shared/domain/fetch.ts';
import type { Price } from '../../shared/domain/pricing.ts';
import type { Values } from '../../shared/domain/types.ts';
import { userAgent } from '../../shared/user-agent.ts';
import type { Call, Reply } from '../serve.ts';
import type { Found } from './find-endpoint.ts';

type FetchCall = Call<object, object, FetchRequest>;

/** The answer of a fetch that succeeded and was charged. */
export function presentFetch(done: {
    call: FetchCall;
    found: Found;
    outcome: FetchOutcome & { ok: true };
    bill: { charged: number; available: number };
    admittedAt: number;
    durationMs: number;
}): FetchAnswer {
    const { call, found, outcome, bill } = done;
    const { status, attempts, durationMs, bytes } = outcome.upstream;
    return {
        success: true,
        data: outcome.data,
        meta: {
            credits_used: bill.charged,
            credits_remaining: bill.available,
            request_id: call.requestId,
            site: found.site,
            endpoint: found.endpoint.name,
            version: found.version,
            results: outcome.results,
            truncated: outcome.truncated,
            cached: false,
            duration_ms: Math.round(done.durationMs),
            // The two clocks may differ by a little between machines.
            queue_ms: Math.max(0, Math.round(outcome.startedAt - done.admittedAt)),
            upstream: { status, attempts, duration_ms: Math.round(durationMs), bytes },
        },
    };
}

/** The text of an answer around the one figure that only the charge knows: what the account can spend after it. */
export function aroundBalance({ data, meta }: FetchAnswer): { head: string; tail: string } {
    const { credits_used, credits_remaining: _unknown, ...rest } = meta;
    return {
        head: `{"success":true,"data":${JSON.stringify(data)},"meta":{"credits_used":${credits_used},"credits_remaining":`,
        tail: `,${JSON.stringify(rest).slice(1)}}`,
    };
}

/** What would be sent and what it would cost at the most; nothing is sent or charged. */
export async function presentDryRun(call: FetchCall, found: Found, values: Values, price: Price): Promise<Reply<FetchAnswer>> {
    const began = performance.now();
    const { app, caller } = call;
    const { method, url, headers, bodyShown } = buildRequest(found.endpoint, values, { userAgent: userAgent(app.publicUrl()) });
    const balance = caller === undefined ? undefined : await app.credits.balance(caller.accountId);
    return {
        answer: {
            success: true,
            data: { request: { method, url, headers, body: bodyShown }, credits_max: price.unit * price.maxUnits },
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
