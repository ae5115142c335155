import type { Receiver } from '../../domain/events/webhook-url.ts';
import { isId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import { type Db, now } from '../../platform/db.ts';
import type { InTurn } from '../../platform/in-turn.ts';
import { retryRolledBack } from '../../platform/pg-errors.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { lockAsKeyHolder } from '../accounts/workspaces.ts';
import { CHANGED_AT_ONCE, disabledColumns, lockWaiting, stopWaiting, WEBHOOK_NEWS, withoutQuery } from './disable-webhooks.ts';
import { blockSpreading } from './spread.ts';
import { lockWebhook, queryWebhook, toReceiver, WEBHOOK, type Webhook, type WebhookName, wakeHost } from './webhooks.ts';

interface WebhookChange {
    /** The person who makes the change. */
    userId: string;
    receiver?: Receiver | undefined;
    events?: readonly string[] | undefined;
    description?: string | null | undefined;
    isEnabled?: boolean | undefined;
    by: By;
}

/**
 * Changes a webhook. Who gives it another URL or enables it while it is disabled takes it over: on Free, it receives that person's events
 * about credits and no longer those of the previous person. Mails the owners of its workspace if the URL changes. A disabled webhook
 * receives no events, and its waiting deliveries stop. Enabling it resets its failures. Waiting deliveries go to a new URL. Undefined if
 * there is no such webhook.
 */
export async function changeWebhook(db: Db, name: WebhookName, change: WebhookChange, inTurn: InTurn): Promise<Webhook | undefined> {
    if (!isId('whk', name.webhookId)) return undefined;
    // What waited before it was disabled is not sent once it is enabled.
    if (change.isEnabled === true) await stopWaiting(db, name.webhookId, inTurn);
    const { changed, formerHost } = await inTurn(() => retryRolledBack(() => writeChange(db, name, change)));
    // Spreading is not blocked any more: 100,000 deliveries may wait.
    if (change.isEnabled === false) await stopWaiting(db, name.webhookId, inTurn);
    if (formerHost !== undefined) await moveWaiting(db, name, formerHost, inTurn);
    return changed;
}

/** @returns `formerHost` if the webhook has another URL now */
async function writeChange(
    db: Db,
    name: WebhookName,
    change: WebhookChange,
): Promise<{ changed: Webhook | undefined; formerHost?: string | undefined }> {
    return db.transaction(async (trx) => {
        await lockAsKeyHolder(trx, { workspaceId: name.workspaceId, userId: change.userId });
        // Enabling need not block spreading: a disabled webhook gets no deliveries.
        if (change.isEnabled === false || change.receiver !== undefined) await blockSpreading(trx);
        const before = await lockWebhook(trx, name);
        if (before === undefined) return { changed: undefined };
        const { userId, receiver, events, description, isEnabled, by } = change;
        const isTurned = isEnabled !== undefined && isEnabled !== before.isEnabled;
        const isMoved = receiver !== undefined && receiver.url !== before.url;
        const isTakenOver = userId !== before.madeBy && (isMoved || (isTurned && isEnabled));
        const formerHost: string | undefined = isMoved ? (await queryWebhook(trx, name).first('host')).host : undefined;
        await queryWebhook(trx, name).update({
            updated_at: now(trx),
            ...(receiver && toReceiver(receiver)),
            ...(isMoved && { has_delivered: false }),
            ...(isTakenOver && { made_by: userId }),
            ...(events && { events: [...events] }),
            ...(description !== undefined && { description }),
            ...(isTurned && (isEnabled ? enabledColumns(trx) : disabledColumns(trx, 'caller'))),
        });
        if (isTakenOver) await deleteDeliveriesAbout(trx, name.webhookId, before.madeBy);
        if (isMoved) await notifyOfMove(trx, before, receiver);
        const details: JsonObject = {
            ...(receiver && { url: withoutQuery(receiver.url) }),
            ...(events && { events: [...events] }),
            ...(isTurned && { enabled: isEnabled }),
            ...(isTakenOver && { taken_over_from: before.madeBy }),
        };
        await recordAct(trx, { ...by, workspaceId: name.workspaceId, action: 'webhook.changed', target: name.webhookId, details });
        return { changed: await queryWebhook(trx, name).first(WEBHOOK), formerHost };
    });
}

/** Mails the owners of the workspace that events go elsewhere now. */
async function notifyOfMove(trx: Db, { webhookId, workspaceId, url: from }: Webhook, to: Receiver): Promise<void> {
    await notifyOwners(trx, {
        workspaceId,
        domain: WEBHOOK_NEWS,
        subject: 'The URL of a webhook was changed',
        line: `The webhook ${webhookId} was changed from ${withoutQuery(from)} to ${withoutQuery(to.url)}. If none of you did this, delete the webhook and revoke the keys that can change webhooks.`,
    });
}

function enabledColumns(db: Db) {
    return {
        is_enabled: true,
        is_stopping: false,
        enabled_at: now(db),
        disabled_at: null,
        disabled_reason: null,
        failures: 0,
        failing_since: null,
        warned_at: null,
    };
}

/** Deletes deliveries of events about a person's own credits, so that no one can redeliver them to another receiver. */
async function deleteDeliveriesAbout(db: Db, webhookId: string, userId: string): Promise<void> {
    const about = db('events').where({ account_id: userId }).select('id');
    await db('webhook_deliveries').where({ webhook_id: webhookId }).whereIn('event_id', about).delete();
}

/** Moves waiting deliveries from a former host to the one of their webhook. A delivery that is not moved goes to the new URL too. */
async function moveWaiting(db: Db, name: WebhookName, formerHost: string, inTurn: InTurn): Promise<void> {
    const move = async (trx: Db): Promise<number> => {
        const webhook = await queryWebhook(trx, name).forKeyShare().first('host');
        if (webhook === undefined || webhook.host === formerHost) return 0;
        const ids = await lockWaiting(trx, { host: formerHost, webhook_id: name.webhookId });
        await trx('webhook_deliveries').whereIn('id', ids).update({ host: webhook.host });
        if (ids.length > 0) await wakeHost(trx, webhook.host);
        return ids.length;
    };
    while ((await inTurn(() => retryRolledBack(() => db.transaction(move)))) === CHANGED_AT_ONCE);
}
