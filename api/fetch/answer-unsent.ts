import type { App } from '../../shared/app.ts';
import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import { showAttached } from '../../shared/domain/connections/attach.ts';
import { buildPrepareRequest, buildRequest } from '../../shared/domain/fetch/build-request.ts';
import { readContinuation } from '../../shared/domain/fetch/continuation.ts';
import { isFileSchema, withoutBytes } from '../../shared/domain/fetch/files.ts';
import { atFirstPage, atPage } from '../../shared/domain/fetch/pages.ts';
import { type AuthOffer, hostsForCall, termsOf } from '../../shared/domain/package/auth.ts';
import type { Endpoint, JsonObject, UpstreamRequest, Values } from '../../shared/domain/types.ts';
import type { Admitted } from '../../shared/fetch/admit.ts';
import { storedText } from '../../shared/fetch/answer-text.ts';
import type { Found } from '../../shared/fetch/find-endpoint.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { recordStored } from '../../shared/fetch/record.ts';
import { findStored } from '../../shared/fetch/stored-results.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import type { UsableConnection } from '../../shared/store/connections/vault.ts';
import type { Reply } from '../call.ts';

/** Answers a call that sends no request to the site: a dry run, or a call with a stored result. Returns undefined for other calls. */
export async function answerUnsent(app: App, order: FetchOrder, admitted: Admitted): Promise<Reply<FetchAnswer> | undefined> {
    if (order.body.dry_run) return presentDryRun(app, order, admitted);
    const kept = await findStored(app, order, admitted);
    if (kept === undefined) return undefined;
    recordStored(app, order, admitted.found, kept.results);
    return presentStored(app, order, admitted, kept);
}

async function presentStored(
    app: App,
    order: FetchOrder,
    { found }: Admitted,
    kept: { text: string; results: number },
): Promise<Reply<FetchAnswer>> {
    const balance = await app.credits.balance(order.caller.accountId);
    const { head, tail } = storedText(order, found, kept);
    return { text: `${head}${balance?.available ?? 0}${tail}`, isKept: false };
}

/** Presents the request that would be sent, and its maximum cost. */
async function presentDryRun(
    app: App,
    { caller, requestId }: FetchOrder,
    { found, values, price, connection, cursor }: Admitted,
): Promise<Reply<FetchAnswer>> {
    const began = performance.now();
    const planned = planOf(found, values, userAgent(app.publicUrl()), { connection, cursor });
    const balance = await app.credits.balance(caller.accountId);
    return {
        answer: {
            success: true,
            data: { ...planned, credits_max: price.unit * price.maxUnits },
            meta: {
                credits_used: 0,
                credits_remaining: balance?.available ?? 0,
                request_id: requestId,
                site: found.site,
                endpoint: found.endpoint.name,
                version: found.version,
                duration_ms: Math.round(performance.now() - began),
            },
        },
    };
}

/** The bound values, with the size of each file instead of its bytes. */
function paramsShown(endpoint: Endpoint, values: Values): JsonObject {
    const files = new Set(
        endpoint.params.filter(({ source, schema }) => source === 'body' && isFileSchema(schema)).map(({ name }) => name),
    );
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, files.has(name) ? withoutBytes(value) : value]));
}

/**
 * The first request of the call. For an endpoint with `prepare`, this is the GET of the first step, and `then` has the params of the main
 * request. For an endpoint with pagination, it is the request of the first page, or of the page at the cursor.
 */
function planOf(
    { endpoint, offer }: Found,
    values: Values,
    agent: string,
    { connection, cursor }: Pick<Admitted, 'connection' | 'cursor'>,
): JsonObject {
    const place = cursor === undefined ? undefined : readContinuation(cursor.next).place;
    const isCounted = place !== undefined && 'value' in place;
    const first = isCounted ? atPage(endpoint, values, place.value) : atFirstPage(endpoint, values);
    const [step] = endpoint.prepare ?? [];
    const built =
        step === undefined ? buildRequest(first.endpoint, first.values, agent) : buildPrepareRequest(step, endpoint, values, agent);
    if (step === undefined && place !== undefined && 'url' in place) built.url = place.url;
    const { method, url, headers, bodyShown } = connection === undefined ? built : showCredential(built, connection, offer);
    const request = { method, url, headers, body: bodyShown };
    // biome-ignore lint/suspicious/noThenProperty: the contract's name; it holds no function, so nothing waits for it.
    return step === undefined ? { request } : { request, then: { params: paramsShown(endpoint, first.values) } };
}

/** Shows where the request carries the credential, if its host receives it. */
function showCredential(request: UpstreamRequest, connection: UsableConnection, offer: AuthOffer): UpstreamRequest {
    const offered = termsOf(offer, connection.authId);
    const isSent = offered !== undefined && hostsForCall(connection, offered).has(new URL(request.url).hostname);
    return isSent ? showAttached(request, connection.entry) : request;
}
