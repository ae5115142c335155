import { MAX_WAITING } from '../../domain/events/webhook-bounds.ts';
import { type Db, now } from '../../platform/db.ts';
import { type InTurn, withoutTurns } from '../../platform/in-turn.ts';
import { retryRolledBack } from '../../platform/pg-errors.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { blockSpreading } from './spread.ts';

/** `caller`: by PATCH, or because the person who enabled it left or got the role billing. The other reasons: see `WHY`. */
export type DisabledReason = 'caller' | 'gone' | 'failing' | 'backlog';

type Cause = Exclude<DisabledReason, 'caller'> | 'left';

/** Notices about webhooks are combined in one email. */
export const WEBHOOK_NEWS = 'webhooks';

const WORKS_AGAIN = 'Enable it once the receiver works again. Failed deliveries can be redelivered for 14 days.';

/** The reason in the email to owners, and what to do. */
const WHY: Readonly<Record<Cause, [reason: string, advice: string]>> = {
    gone: ['it answered 410 Gone', WORKS_AGAIN],
    failing: ['none of its deliveries succeeded for five days', WORKS_AGAIN],
    backlog: [`more than ${MAX_WAITING.toLocaleString('en')} deliveries waited for it`, WORKS_AGAIN],
    left: [
        'the person who last chose its URL or enabled it left the workspace, or may no longer have keys there',
        'Enable it if the receiver is yours, and rotate its secret, which that person knows.',
    ],
};

/** Disables webhooks that are still enabled, and mails the owners of their workspaces. `stopDisabled` then stops their deliveries. */
export async function disableWebhooks(db: Db, webhookIds: readonly string[], cause: Exclude<Cause, 'left'>): Promise<void> {
    if (webhookIds.length > 0) await db.transaction((trx) => disable(trx, webhookIds, cause));
}

/** Disables a person's webhooks in workspaces, in the transaction that ends the memberships. */
export async function disableWebhooksOf(trx: Db, userId: string, workspaceIds: readonly string[]): Promise<void> {
    const own: string[] = await trx('webhooks').where({ made_by: userId }).whereIn('workspace_id', workspaceIds).pluck('id');
    if (own.length > 0) await disable(trx, own, 'left');
}

interface FailingWebhook {
    webhookId: string;
    workspaceId: string;
    url: string;
}

const NAMED = ['id as webhookId', 'workspace_id as workspaceId', 'url'];

async function disable(trx: Db, webhookIds: readonly string[], cause: Cause): Promise<void> {
    await lockWorkspacesOf(trx, webhookIds);
    await blockSpreading(trx);
    const ended: FailingWebhook[] = await trx('webhooks')
        .whereIn('id', webhookIds)
        .where({ is_enabled: true })
        .update({ ...disabledColumns(trx, cause === 'left' ? 'caller' : cause), updated_at: now(trx) })
        .returning(NAMED);
    const [reason, advice] = WHY[cause];
    for (const { webhookId, workspaceId, url } of ended) {
        const details = { reason: cause };
        await recordAct(trx, { actor: 'system', workspaceId, action: 'webhook.disabled', target: webhookId, details });
        await notifyOwners(trx, {
            workspaceId,
            domain: WEBHOOK_NEWS,
            subject: 'A webhook was disabled',
            line: `The webhook ${withoutQuery(url)} (${webhookId}) was disabled: ${reason}. It receives no more events. ${advice}`,
        });
    }
}

/** Warns the owners of workspaces, once, that these webhooks may be disabled. */
export async function warnOfFailing(db: Db, webhookIds: readonly string[]): Promise<void> {
    if (webhookIds.length === 0) return;
    await db.transaction(async (trx) => {
        await lockWorkspacesOf(trx, webhookIds);
        const warned: FailingWebhook[] = await trx('webhooks')
            .whereIn('id', webhookIds)
            .where({ is_enabled: true, warned_at: null })
            .whereNotNull('failing_since')
            .update({ warned_at: now(trx) })
            .returning(NAMED);
        for (const { webhookId, workspaceId, url } of warned) {
            await notifyOwners(trx, {
                workspaceId,
                domain: WEBHOOK_NEWS,
                subject: 'A webhook is failing',
                line: `No delivery to the webhook ${withoutQuery(url)} (${webhookId}) succeeded for a day. It will be disabled after five days without a success. The list of its deliveries shows the answers of the receiver.`,
            });
        }
    });
}

/** Finds webhooks with too many waiting deliveries. */
export async function findBacklogs(db: Db): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { id: string }[] }>(
        `select w.id from webhooks w where w.is_enabled and exists (
             select from webhook_deliveries d where d.host = w.host and d.webhook_id = w.id and d.status = 'pending' offset ?)`,
        [MAX_WAITING],
    );
    return rows.map(({ id }) => id);
}

/** Locks workspaces against changes of members. Lock order: workspaces, then webhooks, as in the removal of a member. */
async function lockWorkspacesOf(trx: Db, webhookIds: readonly string[]): Promise<void> {
    const ids = trx('webhooks').whereIn('id', webhookIds).select('workspace_id');
    await trx('workspaces').whereIn('id', ids).orderBy('id').forKeyShare().select('id');
}

/** Waiting deliveries are no longer sent. `stopWaiting` then stops them. */
export function disabledColumns(db: Db, reason: DisabledReason) {
    return { is_enabled: false, disabled_at: now(db), disabled_reason: reason, is_stopping: true };
}

/** Maximum deliveries that one transaction changes. Attempts that end meanwhile wait for it. */
export const CHANGED_AT_ONCE = 5000;

/** Locks some waiting deliveries, and returns their ids. All lock the webhook first, and deliveries in the order of their ids. */
export async function lockWaiting(trx: Db, which: { webhook_id: string; host?: string }): Promise<string[]> {
    const some = trx('webhook_deliveries').where({ ...which, status: 'pending' });
    const locked = trx('webhook_deliveries').whereIn('id', some.limit(CHANGED_AT_ONCE).select('id'));
    return locked.orderBy('id').forUpdate().pluck('id');
}

/**
 * Stops the deliveries that waited when this webhook was disabled; they are sent only if a user redelivers them. There may be 100,000, so
 * it uses many transactions, none of which blocks spreading.
 */
export async function stopWaiting(db: Db, webhookId: string, inTurn: InTurn): Promise<void> {
    while (await inTurn(() => retryRolledBack(() => stopSome(db, webhookId))));
}

/** False if no delivery is left to stop. */
async function stopSome(db: Db, webhookId: string): Promise<boolean> {
    return db.transaction(async (trx) => {
        const stopping = trx('webhooks').where({ id: webhookId, is_stopping: true });
        if ((await stopping.clone().forNoKeyUpdate().first('id')) === undefined) return false;
        const ids = await lockWaiting(trx, { webhook_id: webhookId });
        await trx('webhook_deliveries').whereIn('id', ids).update({ status: 'stopped', due_at: null });
        if (ids.length === CHANGED_AT_ONCE) return true;
        await stopping.update({ is_stopping: false });
        return false;
    });
}

/** Stops the waiting deliveries of disabled webhooks, if no process has done so. */
export async function stopDisabled(db: Db): Promise<void> {
    for (const webhookId of await db('webhooks').where({ is_stopping: true }).pluck('id')) await stopWaiting(db, webhookId, withoutTurns);
}

/** A URL for logs, emails and the audit log. Its query may contain a secret of the receiver. */
export function withoutQuery(url: string): string {
    return url.replace(/\?.*$/, '');
}
