import { randomBytes } from 'node:crypto';
import { MAX_WEBHOOKS } from '../../domain/events/webhook-bounds.ts';
import type { Receiver } from '../../domain/events/webhook-url.ts';
import { isId, newId } from '../../domain/text/ids.ts';
import type { JsonObject } from '../../domain/types.ts';
import { type Columns, columns, countRows, type Db, fromNow, now } from '../../platform/db.ts';
import type { InTurn } from '../../platform/in-turn.ts';
import { retryRolledBack } from '../../platform/pg-errors.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { lockForKeyHolder } from '../accounts/workspaces.ts';
import {
    CHANGED_AT_ONCE,
    type DisabledReason,
    disabledColumns,
    lockWaiting,
    stopWaiting,
    WEBHOOK_NEWS,
    withoutQuery,
} from './disable-webhooks.ts';
import { holdSpreading } from './spread.ts';

export interface Webhook {
    webhookId: string;
    workspaceId: string;
    /** Who last chose its URL or enabled it. */
    madeBy: string;
    url: string;
    /** Types and prefixes such as `job.*`. */
    events: string[];
    description: string | null;
    isEnabled: boolean;
    disabledReason: DisabledReason | null;
    /** When the current series of failures began; null if none. */
    failingSince: Date | null;
    createdAt: Date;
    updatedAt: Date;
}

const WEBHOOK: Columns<Webhook> = {
    webhookId: 'id',
    ...columns('', 'workspace_id made_by url events description is_enabled disabled_reason failing_since created_at updated_at'),
};

export const WEBHOOK_PURPOSE = 'webhook secret';
/** How long a previous secret also signs. */
const FORMER_SIGNS = '1 days';

interface NewWebhook {
    workspaceId: string;
    userId: string;
    receiver: Receiver;
    events: readonly string[];
    description: string | null;
    isEnabled: boolean;
    by: By;
}

export interface WebhookName {
    webhookId: string;
    workspaceId: string;
}

/** Creates a webhook and emails the owners of its workspace. Undefined if there are too many. The secret is returned only here. */
export async function createWebhook(
    db: Db,
    secrets: Secrets,
    { workspaceId, userId, receiver, events, description, isEnabled, by }: NewWebhook,
): Promise<{ webhook: Webhook; secret: string } | undefined> {
    const secret = newWebhookSecret();
    const sealed = await secrets.seal(secret, WEBHOOK_PURPOSE);
    return db.transaction(async (trx) => {
        await lockForKeyHolder(trx, { workspaceId, userId });
        if ((await countRows(trx('webhooks').where({ workspace_id: workspaceId }))) >= MAX_WEBHOOKS) return undefined;
        const webhookId = newId('whk');
        await trx('webhooks').insert({
            id: webhookId,
            workspace_id: workspaceId,
            made_by: userId,
            ...toReceiver(receiver),
            events: [...events],
            description,
            is_enabled: isEnabled,
            ...(isEnabled ? {} : { disabled_at: now(trx), disabled_reason: 'caller' }),
            sealed,
        });
        const shown = withoutQuery(receiver.url);
        await recordAct(trx, {
            ...by,
            workspaceId,
            action: 'webhook.created',
            target: webhookId,
            details: { url: shown, events: [...events] },
        });
        await notifyOwners(trx, {
            workspaceId,
            domain: WEBHOOK_NEWS,
            subject: 'A webhook was added to your workspace',
            line: `A webhook was added. It sends ${events.join(', ')} to ${shown}. If none of you did this, delete it (${webhookId}) and revoke the keys that may add webhooks.`,
        });
        return { webhook: await queryWebhook(trx, { webhookId, workspaceId }).first(WEBHOOK), secret };
    });
}

export async function findWebhook(db: Db, name: WebhookName): Promise<Webhook | undefined> {
    return isId('whk', name.webhookId) ? queryWebhook(db, name).first(WEBHOOK) : undefined;
}

/** Whether the domain of a receiver is blocked, by an operator or its owner. */
export async function isReceiverBlocked(db: Db, { registrable }: Receiver): Promise<boolean> {
    if (registrable === undefined) return false;
    return (await db('domains').where({ registrable, is_blocked: true }).first('registrable')) !== undefined;
}

/** A page of a workspace's webhooks, newest first, and their total number. */
export function listWebhooks(db: Db, workspaceId: string, page: RowPage): Promise<FoundPage<Webhook>> {
    return readRowPage<Webhook>(db, db('webhooks').where({ workspace_id: workspaceId }), WEBHOOK, page);
}

interface WebhookChange {
    /** The person who makes the change. */
    userId: string;
    receiver?: Receiver | undefined;
    events?: readonly string[] | undefined;
    description?: string | null | undefined;
    isEnabled?: boolean | undefined;
}

/**
 * Changes a webhook. Who gives it another URL or enables it while it is disabled takes it over: on Free, it receives that person's events
 * about credits and no longer those of the previous person. Mails the owners of its workspace if the URL changes. A disabled webhook
 * receives no events, and its waiting deliveries stop. Enabling it resets its failures. Waiting deliveries go to a new URL. Undefined if
 * there is no such webhook.
 */
export async function changeWebhook(
    db: Db,
    name: WebhookName,
    change: WebhookChange,
    by: By,
    inTurn: InTurn,
): Promise<Webhook | undefined> {
    if (!isId('whk', name.webhookId)) return undefined;
    // What waited before it was disabled is not sent once it is enabled.
    if (change.isEnabled === true) await stopWaiting(db, name.webhookId, inTurn);
    const { changed, formerHost } = await inTurn(() => retryRolledBack(() => writeChange(db, name, change, by)));
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
    by: By,
): Promise<{ changed: Webhook | undefined; formerHost?: string | undefined }> {
    return db.transaction(async (trx) => {
        await lockForKeyHolder(trx, { workspaceId: name.workspaceId, userId: change.userId });
        // Enabling needs no hold: nothing is spread to a disabled webhook.
        if (change.isEnabled === false || change.receiver !== undefined) await holdSpreading(trx);
        const before = await lock(trx, name);
        if (before === undefined) return { changed: undefined };
        const { userId, receiver, events, description, isEnabled } = change;
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
        if (isMoved) {
            await notifyOwners(trx, {
                workspaceId: name.workspaceId,
                domain: WEBHOOK_NEWS,
                subject: 'The URL of a webhook was changed',
                line: `The webhook ${name.webhookId} was changed from ${withoutQuery(before.url)} to ${withoutQuery(receiver.url)}. If none of you did this, delete the webhook and revoke the keys that can change webhooks.`,
            });
        }
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

/** Rotates the secret; the previous one also signs for a day. Undefined if there is no such webhook. */
export async function rotateSecret(
    db: Db,
    secrets: Secrets,
    name: WebhookName,
    { userId, by }: { userId: string; by: By },
): Promise<{ webhook: Webhook; secret: string } | undefined> {
    const secret = newWebhookSecret();
    const sealed = await secrets.seal(secret, WEBHOOK_PURPOSE);
    return db.transaction(async (trx) => {
        await lockForKeyHolder(trx, { workspaceId: name.workspaceId, userId });
        if ((await lock(trx, name)) === undefined) return undefined;
        await queryWebhook(trx, name).update({
            sealed,
            former_sealed: trx.ref('sealed'),
            former_until: fromNow(trx, FORMER_SIGNS),
            updated_at: now(trx),
        });
        await recordAct(trx, { ...by, workspaceId: name.workspaceId, action: 'webhook.rotated', target: name.webhookId });
        return { webhook: await queryWebhook(trx, name).first(WEBHOOK), secret };
    });
}

/** Deletes a webhook with its secret, and stops its deliveries before. False if there is no such webhook. */
export async function deleteWebhook(db: Db, name: WebhookName, by: By, inTurn: InTurn): Promise<boolean> {
    while (await inTurn(() => disableToDelete(db, name))) {
        await stopWaiting(db, name.webhookId, inTurn);
        if (await inTurn(() => retryRolledBack(() => deleteDisabled(db, name, by)))) return true;
    }
    return false;
}

async function disableToDelete(db: Db, name: WebhookName): Promise<boolean> {
    return db.transaction(async (trx) => {
        await holdSpreading(trx);
        if ((await lock(trx, name)) === undefined) return false;
        await queryWebhook(trx, name).update(disabledColumns(trx, 'caller'));
        return true;
    });
}

/** False if it was enabled or deleted meanwhile. */
async function deleteDisabled(db: Db, name: WebhookName, by: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        const webhook = await lock(trx, name);
        if (webhook === undefined || webhook.isEnabled) return false;
        await queryWebhook(trx, name).delete();
        // Those that a user redelivered meanwhile.
        const waiting = trx('webhook_deliveries').where({ webhook_id: name.webhookId, status: 'pending' });
        await waiting.update({ status: 'stopped', due_at: null });
        const details = { url: withoutQuery(webhook.url) };
        await recordAct(trx, { ...by, workspaceId: name.workspaceId, action: 'webhook.deleted', target: name.webhookId, details });
        return true;
    });
}

/** Disables the webhooks of workspaces without members. Call it in the transaction that empties the workspaces. */
export async function disableWebhooksOfEmptied(trx: Db, workspaceIds: readonly string[]): Promise<void> {
    await holdSpreading(trx);
    await trx('webhooks').whereIn('workspace_id', workspaceIds).update(disabledColumns(trx, 'caller'));
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

/** Makes workers check the deliveries of a host. Call it in the transaction that makes one due. */
export async function wakeHost(db: Db, host: string): Promise<void> {
    await db('webhook_hosts')
        .insert({ host, due_at: now(db) })
        .onConflict('host')
        .merge({ due_at: db.raw('least(webhook_hosts.due_at, excluded.due_at)') });
}

function toReceiver({ url, host, registrable }: Receiver) {
    return { url, host, registrable: registrable ?? null };
}

function queryWebhook(db: Db, { webhookId, workspaceId }: WebhookName) {
    return db('webhooks').where({ id: webhookId, workspace_id: workspaceId });
}

async function lock(trx: Db, name: WebhookName): Promise<Webhook | undefined> {
    return isId('whk', name.webhookId) ? queryWebhook(trx, name).forUpdate().first(WEBHOOK) : undefined;
}

/** A new secret in the format of Standard Webhooks. */
function newWebhookSecret(): string {
    return `whsec_${randomBytes(32).toString('base64')}`;
}
