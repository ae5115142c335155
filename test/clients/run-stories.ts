import { Routebook, RoutebookError, verifyWebhook, WebhookVerificationError } from '../../cli/client/index.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import type { Outcome, Story } from './stories.ts';

// biome-ignore lint/suspicious/noExplicitAny: the arguments of a story are JSON
type Given = any;

/** The calls of the stories in TypeScript. */
const CALLS: Record<string, (client: Routebook, given: Given) => unknown> = {
    account: (client) => client.account(),
    catalog: (client, { domain, intent }) => client.catalog(domain, { intent }),
    create_batch: (client, given) => client.batches.create(batchOf(given)),
    fetch: (client, { session_id: sessionId, idempotency_key: idempotencyKey, ...order }) =>
        client.fetch(order, { ...(sessionId && { sessionId }), ...(idempotencyKey && { idempotencyKey }) }),
    find: (client, { task, ...query }) => client.find(task, query),
    follow_batch: (client, { batch_id: id, after }) => all(client.batches.follow(id, after === undefined ? {} : { after })),
    job_result: (client, order) => client.jobs.create(order).result(),
    list_jobs: (client, query) => all(client.jobs.list(query)),
    list_schemas: (client, { take, ...query }) => all(client.schemas.list(query), take),
    pause_batch: (client, { batch_id: id }) => client.batches.pause(id),
    price_batch: (client, given) => client.batches.dryRun(batchOf(given)),
    publish: (client, given) => client.schemas.publish(given.package),
    request_schema: (client, given) => client.requests.create(given),
    resume_batch: (client, { batch_id: id, ...limits }) => client.batches.resume(id, limits),
    retry_batch: (client, { batch_id: id, ...which }) => client.batches.retry(id, which),
    run_batch: (client, given) => all(client.batches.run(batchOf(given))),
    verify_webhook: (_client, { headers, body, secret }) => verifyWebhook(headers, body, secret),
};

/** @param base URL of the story's server */
export async function runStory({ call, with: given, options = {} }: Story, base: string, apiKey: string): Promise<Outcome> {
    const { api_key: key = apiKey, max_retries: maxRetries, max_answer_bytes: maxAnswerBytes, timeout } = options;
    const client = new Routebook({
        baseUrl: base,
        ...(key === null ? {} : { apiKey: key }),
        ...(maxRetries === undefined ? {} : { maxRetries }),
        ...(maxAnswerBytes === undefined ? {} : { maxAnswerBytes }),
        ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
    });
    try {
        const text = JSON.stringify(await CALLS[call]?.(client, given));
        return { result: JSON.parse(text) as Json, text };
    } catch (error) {
        if (error instanceof RoutebookError) return { error: factsOf(error) };
        if (error instanceof WebhookVerificationError) return { error: { code: 'WEBHOOK_VERIFICATION' } };
        throw error;
    }
}

function batchOf({ site, endpoint, items, count, ...fields }: Given) {
    const many = Array.from({ length: count ?? 0 }, (_, id) => ({ params: { id } }));
    return { ...fields, defaults: { site, endpoint }, items: items ?? many };
}

async function all(list: AsyncIterable<unknown>, take = Number.POSITIVE_INFINITY): Promise<unknown[]> {
    const items: unknown[] = [];
    for await (const item of list) if (items.push(item) >= take) break;
    return items;
}

function factsOf(error: RoutebookError): JsonObject {
    return JSON.parse(
        JSON.stringify({
            code: error.code,
            message: error.message,
            status: error.status,
            fault: error.fault,
            retryable: error.retryable,
            retry_after: error.retryAfter,
            details: error.details,
            request_id: error.requestId,
            doc_url: error.docUrl,
            credits_used: error.creditsUsed,
            credits_remaining: error.creditsRemaining,
            upgrade: error.upgrade,
            connect_url: error.connectUrl,
            obtain_url: error.obtainUrl,
            upstream: error.upstream,
            did_you_mean: error.didYouMean,
            has_key: error.idempotencyKey !== undefined,
        }),
    ) as JsonObject;
}
