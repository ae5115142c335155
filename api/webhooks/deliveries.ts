import type { DeliveriesQuery, DeliveryEntry, DeliveryParams, WebhookParams } from '../../shared/contracts/webhooks.ts';
import { TEST_WINDOW } from '../../shared/domain/events/webhook-bounds.ts';
import { isId } from '../../shared/domain/text/ids.ts';
import type { InTurn } from '../../shared/platform/in-turn.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as store from '../../shared/store/events/deliveries.ts';
import { takeFrom } from '../admission/count-call.ts';
import { listInTurn } from '../admission/long-lists.ts';
import { answerPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';
import { presentDelivery } from './present-webhook.ts';
import { mustFindWebhook, nameOf, webhookNotFound } from './webhooks.ts';

/** GET /v1/webhooks/{webhook_id}/deliveries */
export async function listDeliveries(call: Call<WebhookParams, DeliveriesQuery, undefined>): Promise<Reply<DeliveryEntry[]>> {
    const { app, query } = call;
    const { webhookId } = await mustFindWebhook(call);
    const { status } = query;
    const list = (page: RowPage) => listInTurn(call, () => store.listDeliveries(app.browse, webhookId, { ...page, status }));
    return answerPage(call, [webhookId, status ?? null], list, (rows) => rows.map(presentDelivery));
}

/** POST /v1/webhooks/{webhook_id}/test */
export async function sendTest(call: Call<WebhookParams, object, undefined>, inTurn: InTurn): Promise<Reply<DeliveryEntry>> {
    await mustFindWebhook(call);
    await count(call);
    const delivery = await store.testWebhook(call.app.db, nameOf(call), inTurn);
    if (delivery === undefined) throw webhookNotFound();
    return accepted(call, delivery);
}

/** POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver */
export async function redeliver(call: Call<DeliveryParams, object, undefined>, inTurn: InTurn): Promise<Reply<DeliveryEntry>> {
    const { webhookId } = await mustFindWebhook(call);
    const { delivery_id: id } = call.params;
    if (!isId('dlv', id) || !(await store.hasDelivery(call.app.db, webhookId, id))) throw deliveryNotFound();
    await count(call);
    const delivery = await store.redeliver(call.app.db, nameOf(call), id, inTurn);
    if (delivery === undefined) throw deliveryNotFound();
    return accepted(call, delivery);
}

function accepted({ params }: Call<WebhookParams, unknown, unknown>, delivery: store.Delivery): Reply<DeliveryEntry> {
    return { answer: presentDelivery(delivery), headers: { location: `/v1/webhooks/${params.webhook_id}/deliveries` } };
}

function deliveryNotFound(): Refusal {
    return new Refusal('NOT_FOUND', 'This webhook has no delivery with this id. Deliveries are kept for 14 days.');
}

function count(call: Call<WebhookParams, unknown, unknown>): Promise<void> {
    const message = `The window webhook is full: ${TEST_WINDOW.limit} tests and redeliveries a minute of one webhook.`;
    return takeFrom(call, { name: 'webhook', identity: `webhook:${call.params.webhook_id}`, window: TEST_WINDOW, message });
}
