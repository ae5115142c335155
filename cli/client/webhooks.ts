import { data, getRequest, listItems, Resource, writeRequest } from './calls.ts';
import type { Listing } from './listing.ts';
import type { CallOptions } from './transport.ts';
import type { DeliveriesQuery, DeliveryEntry, EventEntry, EventsQuery, WebhookDeleted, WebhookEntry, WebhookOrder } from './types.ts';

/** URLs that receive events of the workspace. Needs a key with the scopes account and jobs and no other limits. */
export class Webhooks extends Resource {
    /** Only this answer has the `secret`: save it for `verifyWebhook`. */
    create(order: WebhookOrder, options?: CallOptions): Promise<WebhookEntry & { secret: string }> {
        // Not repeatable: sent twice, it creates two webhooks.
        return data(this.transport, { ...writeRequest('POST', '/v1/webhooks'), body: order, isRepeatable: false }, options);
    }

    /** Newest first. */
    list(query: { limit?: number } = {}, options?: CallOptions): Listing<WebhookEntry> {
        return listItems(this.transport, '/v1/webhooks', query, options);
    }

    get(webhookId: string, options?: CallOptions): Promise<WebhookEntry> {
        return data(this.transport, getRequest(pathOf(webhookId)), options);
    }

    /** Omitted fields are unchanged. */
    update(webhookId: string, change: Partial<WebhookOrder>, options?: CallOptions): Promise<WebhookEntry> {
        return data(this.transport, { ...writeRequest('PATCH', pathOf(webhookId)), body: change }, options);
    }

    delete(webhookId: string, options?: CallOptions): Promise<WebhookDeleted> {
        return data(this.transport, writeRequest('DELETE', pathOf(webhookId)), options);
    }

    /** Rotates the secret; the previous one also signs for 24 hours. */
    rotate(webhookId: string, options?: CallOptions): Promise<WebhookEntry & { secret: string }> {
        return data(this.transport, { ...writeRequest('POST', `${pathOf(webhookId)}/rotate`), isRepeatable: false }, options);
    }

    /** Sends a `webhook.test` event. */
    test(webhookId: string, options?: CallOptions): Promise<DeliveryEntry> {
        return data(this.transport, { ...writeRequest('POST', `${pathOf(webhookId)}/test`), isRepeatable: false }, options);
    }

    /** Newest first. */
    deliveries(webhookId: string, query: Omit<DeliveriesQuery, 'cursor'> = {}, options?: CallOptions): Listing<DeliveryEntry> {
        return listItems(this.transport, `${pathOf(webhookId)}/deliveries`, { ...query }, options);
    }

    redeliver(webhookId: string, deliveryId: string, options?: CallOptions): Promise<DeliveryEntry> {
        return data(
            this.transport,
            writeRequest('POST', `${pathOf(webhookId)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`),
            options,
        );
    }
}

/** A page of events, and the cursor of the next page. */
export interface EventsPart {
    events: EventEntry[];
    after: string;
}

/** The events of the workspace in the last 24 hours. */
export class Events extends Resource {
    /** Oldest first. With `wait` it returns as soon as there is an event. Pass `after` of the previous page to miss none. */
    async read(query: EventsQuery = {}, options?: CallOptions): Promise<EventsPart> {
        const { data: events, meta } = await this.transport.call<{
            data: EventEntry[];
            meta: { pagination: { next_cursor: string } };
        }>({ ...getRequest('/v1/events'), query: { ...query } }, options);
        return { events, after: meta.pagination.next_cursor };
    }
}

function pathOf(webhookId: string): string {
    return `/v1/webhooks/${encodeURIComponent(webhookId)}`;
}
