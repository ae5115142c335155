import { randomBytes } from 'node:crypto';
import { MAX_WEBHOOKS } from '../../domain/events/webhook-bounds.ts';
import type { Receiver } from '../../domain/events/webhook-url.ts';
import { isId, newId } from '../../domain/text/ids.ts';
import { type Columns, columns, countRows, type Db, fromNow, now } from '../../platform/db.ts';
import type { InTurn } from '../../platform/in-turn.ts';
import { retryRolledBack } from '../../platform/pg-errors.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { lockAsKeyHolder } from '../accounts/workspaces.ts';
import { type DisabledReason, disabledColumns, stopWaiting, WEBHOOK_NEWS, withoutQuery } from './disable-webhooks.ts';
import { blockSpreading } from './spread.ts';

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

export const WEBHOOK: Columns<Webhook> = {
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
        await lockAsKeyHolder(trx, { workspaceId, userId });
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
        await lockAsKeyHolder(trx, { workspaceId: name.workspaceId, userId });
        if ((await lockWebhook(trx, name)) === undefined) return undefined;
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

/** Stops the deliveries of a webhook, then deletes it with its secret. False if there is no such webhook. */
export async function deleteWebhook(db: Db, name: WebhookName, by: By, inTurn: InTurn): Promise<boolean> {
    while (await inTurn(() => disableToDelete(db, name))) {
        await stopWaiting(db, name.webhookId, inTurn);
        if (await inTurn(() => retryRolledBack(() => deleteDisabled(db, name, by)))) return true;
    }
    return false;
}

async function disableToDelete(db: Db, name: WebhookName): Promise<boolean> {
    return db.transaction(async (trx) => {
        await blockSpreading(trx);
        if ((await lockWebhook(trx, name)) === undefined) return false;
        await queryWebhook(trx, name).update(disabledColumns(trx, 'caller'));
        return true;
    });
}

/** False if it was enabled or deleted meanwhile. */
async function deleteDisabled(db: Db, name: WebhookName, by: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        const webhook = await lockWebhook(trx, name);
        if (webhook === undefined || webhook.isEnabled) return false;
        await queryWebhook(trx, name).delete();
        // Stops deliveries that a user redelivered meanwhile.
        const waiting = trx('webhook_deliveries').where({ webhook_id: name.webhookId, status: 'pending' });
        await waiting.update({ status: 'stopped', due_at: null });
        const details = { url: withoutQuery(webhook.url) };
        await recordAct(trx, { ...by, workspaceId: name.workspaceId, action: 'webhook.deleted', target: name.webhookId, details });
        return true;
    });
}

/** Disables the webhooks of workspaces without members. Call it in the transaction that empties the workspaces. */
export async function disableWebhooksOfEmptied(trx: Db, workspaceIds: readonly string[]): Promise<void> {
    await blockSpreading(trx);
    await trx('webhooks').whereIn('workspace_id', workspaceIds).update(disabledColumns(trx, 'caller'));
}

/** Makes workers check the deliveries of a host. Call it in the transaction that makes one due. */
export async function wakeHost(db: Db, host: string): Promise<void> {
    await db('webhook_hosts')
        .insert({ host, due_at: now(db) })
        .onConflict('host')
        .merge({ due_at: db.raw('least(webhook_hosts.due_at, excluded.due_at)') });
}

export function toReceiver({ url, host, registrable }: Receiver) {
    return { url, host, registrable: registrable ?? null };
}

export function queryWebhook(db: Db, { webhookId, workspaceId }: WebhookName) {
    return db('webhooks').where({ id: webhookId, workspace_id: workspaceId });
}

export async function lockWebhook(trx: Db, name: WebhookName): Promise<Webhook | undefined> {
    return isId('whk', name.webhookId) ? queryWebhook(trx, name).forUpdate().first(WEBHOOK) : undefined;
}

/** A new secret in the format of Standard Webhooks. */
function newWebhookSecret(): string {
    return `whsec_${randomBytes(32).toString('base64')}`;
}
