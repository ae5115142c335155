import type { DeliveryEntry, WebhookEntry } from '../../../shared/contracts/webhooks.ts';
import { EVENT_PREFIXES, EVENT_TYPES } from '../../../shared/domain/events/event-types.ts';
import { MAX_WEBHOOKS } from '../../../shared/domain/events/webhook-bounds.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { keepTyped, type Problems } from '../fields.ts';
import type { Shown, WorkspaceVisit } from '../page.ts';
import { dateOf, readData } from '../read-api.ts';

const EVENTS = [...EVENT_PREFIXES, ...EVENT_TYPES];

const DELIVERIES = 20;

/** GET /dashboard/webhooks */
export async function listWebhooks(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const webhooks = await readData<WebhookEntry[]>(visit, `/v1/webhooks?limit=${MAX_WEBHOOKS}`);
    return {
        view: 'webhooks/list',
        title: 'Webhooks',
        model: {
            webhooks,
            max: MAX_WEBHOOKS,
            names: EVENTS,
            events: visit.query('events') ?? 'job.*',
            problems,
            typed: keepTyped(visit.fields),
        },
    };
}

/**
 * GET /dashboard/webhooks/{webhook_id}: the webhook and its last deliveries.
 * @param refused the API's error if a form had no effect; problems those of the fields
 */
export async function showWebhook(
    visit: WorkspaceVisit,
    { refused, problems = {} }: { refused?: ErrorBody; problems?: Problems } = {},
): Promise<Shown> {
    const webhook = await findWebhook(visit);
    const deliveries = await readData<DeliveryEntry[]>(visit, `/v1/webhooks/${webhook.webhook_id}/deliveries?limit=${DELIVERIES}`);
    return {
        view: 'webhooks/one',
        title: 'Webhook',
        status: refused && (refused.retry_after === undefined ? 422 : 429),
        retryAfter: refused?.retry_after,
        model: {
            webhook: { ...webhook, createdAt: new Date(webhook.created_at), failingSince: dateOf(webhook.failing_since) },
            deliveries: deliveries.map((one) => ({
                ...one,
                createdAt: new Date(one.created_at),
                nextAttemptAt: dateOf(one.next_attempt_at),
            })),
            max: DELIVERIES,
            problem: refused?.message,
            problems,
            typed: keepTyped(visit.fields),
            names: EVENTS,
        },
    };
}

/** The webhook of the path. @throws Refusal NOT_FOUND */
export function findWebhook(visit: WorkspaceVisit): Promise<WebhookEntry> {
    return readData(visit, `/v1/webhooks/${encodeURIComponent(visit.params['webhook_id'] ?? '')}`);
}
