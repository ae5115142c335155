import type { DeliveryEntry, WebhookEntry } from '../../../shared/contracts/webhooks.ts';
import { EVENT_PREFIXES, EVENT_TYPES } from '../../../shared/domain/events/event-types.ts';
import { MOST_WEBHOOKS } from '../../../shared/domain/events/webhook-bounds.ts';
import { memberCaller } from '../callers.ts';
import { type Problems, typed } from '../fields.ts';
import type { Told } from '../internal-api.ts';
import { absent, type Shown, type WorkspaceVisit } from '../page.ts';

/** Deliveries that a page shows. */
const DELIVERIES = 50;

/** GET /dashboard/webhooks */
export async function listWebhooks(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const webhooks = await read<WebhookEntry[]>(visit, `/v1/webhooks?limit=${MOST_WEBHOOKS}`);
    return {
        view: 'webhooks/list',
        title: 'Webhooks',
        status: Object.keys(problems).length === 0 ? 200 : 422,
        model: { webhooks, most: MOST_WEBHOOKS, names: [...EVENT_PREFIXES, ...EVENT_TYPES], problems, typed: typed(visit.fields) },
    };
}

/** GET /dashboard/webhooks/{webhook_id}: the webhook, and what was sent to it last. @param refused why a form did nothing */
export async function showWebhook(visit: WorkspaceVisit, refused?: Told): Promise<Shown> {
    const webhook = await findWebhook(visit);
    const deliveries = await read<DeliveryEntry[]>(visit, `/v1/webhooks/${webhook.webhook_id}/deliveries?limit=${DELIVERIES}`);
    return {
        view: 'webhooks/one',
        title: 'Webhook',
        status: refused === undefined ? 200 : refused.retry_after === undefined ? 422 : 429,
        ...(refused?.retry_after === undefined ? {} : { retryAfter: refused.retry_after }),
        model: {
            webhook: { ...webhook, createdAt: new Date(webhook.created_at), failingSince: dateOf(webhook.failing_since) },
            deliveries: deliveries.map((one) => ({
                ...one,
                createdAt: new Date(one.created_at),
                nextAttemptAt: dateOf(one.next_attempt_at),
            })),
            most: DELIVERIES,
            problem: refused?.message,
        },
    };
}

/** The webhook that the path names. @throws Refusal NOT_FOUND */
export async function findWebhook(visit: WorkspaceVisit): Promise<WebhookEntry> {
    const path = `/v1/webhooks/${encodeURIComponent(visit.params['webhook_id'] ?? '')}`;
    const answer = await visit.ask({ method: 'GET', path, as: memberCaller(visit) });
    if (!answer.ok && answer.refused.code === 'WEBHOOK_NOT_FOUND') throw absent();
    if (!answer.ok) throw new Error(`a webhook answered ${answer.refused.code}`);
    return answer.body['data'] as WebhookEntry;
}

async function read<Data>(visit: WorkspaceVisit, path: string): Promise<Data> {
    const answer = await visit.ask({ method: 'GET', path, as: memberCaller(visit) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.refused.code}`);
    return answer.body['data'] as Data;
}

function dateOf(time: string | null): Date | null {
    return time === null ? null : new Date(time);
}
