import type { DeliveryStatus } from '../../domain/events/delivery-schedule.ts';
import { DELIVERY_DAYS } from '../../domain/events/webhook-bounds.ts';
import { newId } from '../../domain/text/ids.ts';
import { ago, type Columns, columns, countSome, type Db, definedConditions, now } from '../../platform/db.ts';
import type { InTurn } from '../../platform/in-turn.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import { stopWaiting } from './disable-webhooks.ts';
import { recordTestEvent } from './events.ts';
import { type WebhookName, wakeHost } from './webhooks.ts';

export interface Delivery {
    deliveryId: string;
    eventId: string;
    type: string;
    status: DeliveryStatus;
    attempts: number;
    dueAt: Date | null;
    /** HTTP status of the last attempt. */
    code: number | null;
    problem: string | null;
    answer: string | null;
    durationMs: number | null;
    attemptedAt: Date | null;
    createdAt: Date;
}

const DELIVERY: Columns<Delivery> = {
    deliveryId: 'd.id',
    ...columns('d', 'event_id status attempts due_at code problem answer duration_ms attempted_at created_at'),
    type: 'e.type',
};

function keptDeliveries(db: Db, webhookId: string) {
    return db('webhook_deliveries as d')
        .where({ 'd.webhook_id': webhookId })
        .where('d.created_at', '>', ago(db, `${DELIVERY_DAYS} days`));
}

function findDelivery(db: Db, webhookId: string, deliveryId: string): Promise<Delivery | undefined> {
    return keptDeliveries(db, webhookId).where({ 'd.id': deliveryId }).join('events as e', 'e.id', 'd.event_id').first(DELIVERY);
}

/** Lists a page of the deliveries of a webhook, newest first, and counts all of them. */
export function listDeliveries(
    db: Db,
    webhookId: string,
    { status, ...page }: RowPage & { status: DeliveryStatus | undefined },
): Promise<FoundPage<Delivery>> {
    const wanted = () => keptDeliveries(db, webhookId).where(definedConditions({ 'd.status': status }));
    const count = () => countSome(db, wanted().select('d.id'));
    const withEvents = wanted().join('events as e', 'e.id', 'd.event_id');
    return readRowPage<Delivery>(db, withEvents, DELIVERY, page, { at: 'd.created_at', id: 'd.id', count });
}

export async function hasDelivery(db: Db, webhookId: string, deliveryId: string): Promise<boolean> {
    return (await keptDeliveries(db, webhookId).where({ 'd.id': deliveryId }).first('d.id')) !== undefined;
}

/** Sends a `webhook.test` event to one webhook, even if it is disabled. Undefined if there is no such webhook. */
export function testWebhook(db: Db, name: WebhookName, inTurn: InTurn): Promise<Delivery | undefined> {
    return makeDue(db, name, inTurn, async (trx, host) => {
        const { webhookId } = name;
        const eventId = await recordTestEvent(trx, { webhookId, data: { webhook_id: webhookId } });
        const id = newId('dlv');
        await trx('webhook_deliveries').insert({ id, webhook_id: webhookId, event_id: eventId, host, due_at: now(trx) });
        return id;
    });
}

/** Makes any delivery due now, even of a disabled webhook; retries follow. Undefined if there is no such delivery. */
export function redeliver(db: Db, name: WebhookName, deliveryId: string, inTurn: InTurn): Promise<Delivery | undefined> {
    return makeDue(db, name, inTurn, async (trx, host) => {
        const known = await keptDeliveries(trx, name.webhookId).where({ 'd.id': deliveryId }).forUpdate().first('d.id');
        if (known === undefined) return undefined;
        await trx('webhook_deliveries')
            .where({ id: deliveryId })
            .update({ status: 'pending', due_at: now(trx), host, earlier_attempts: trx.ref('attempts') });
        return deliveryId;
    });
}

/** Has a delivery to a webhook sent at once. @param write makes it due, and returns its id; undefined: there is none */
async function makeDue(
    db: Db,
    { webhookId, workspaceId }: WebhookName,
    inTurn: InTurn,
    write: (trx: Db, host: string) => Promise<string | undefined>,
): Promise<Delivery | undefined> {
    await stopWaiting(db, webhookId, inTurn);
    const order = async (trx: Db): Promise<Delivery | undefined> => {
        const webhook = await trx('webhooks').where({ id: webhookId, workspace_id: workspaceId }).forShare().first('host');
        const deliveryId = webhook && (await write(trx, webhook.host));
        if (deliveryId === undefined) return undefined;
        await wakeHost(trx, webhook.host);
        return findDelivery(trx, webhookId, deliveryId);
    };
    return inTurn(() => db.transaction(order));
}
