import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import type { WebhookDeleted, WebhookEntry, WebhookParams } from '../../shared/contracts/webhooks.ts';
import type { InTurn } from '../../shared/platform/in-turn.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as store from '../../shared/store/events/webhooks.ts';
import { answerPage } from '../answers/paging.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';
import { presentWebhook } from './present-webhook.ts';

type WebhookCall = Call<WebhookParams, object, undefined>;

/** GET /v1/webhooks */
export async function listWebhooks(call: Call<object, PageQuery, undefined>): Promise<Reply<WebhookEntry[]>> {
    const { workspaceId } = call.caller;
    const list = (page: RowPage) => store.listWebhooks(call.app.db, workspaceId, page);
    return answerPage(call, [workspaceId], list, (rows) => rows.map(presentWebhook));
}

/** GET /v1/webhooks/{webhook_id} */
export async function readWebhook(call: WebhookCall): Promise<Reply<WebhookEntry>> {
    return { answer: presentWebhook(await mustFindWebhook(call)) };
}

/** DELETE /v1/webhooks/{webhook_id} */
export async function deleteWebhook(call: WebhookCall, inTurn: InTurn): Promise<Reply<WebhookDeleted>> {
    const name = nameOf(call);
    if (!(await store.deleteWebhook(call.app.db, name, byCall(call), inTurn))) throw webhookNotFound();
    return { answer: { webhook_id: name.webhookId, deleted: true } };
}

/** POST /v1/webhooks/{webhook_id}/rotate */
export async function rotateWebhook(call: WebhookCall): Promise<Reply<WebhookEntry>> {
    const { app } = call;
    const { userId } = call.caller;
    const rotated = await store.rotateSecret(app.db, app.secrets, nameOf(call), { userId, by: byCall(call) });
    if (rotated === undefined) throw webhookNotFound();
    return { answer: { ...presentWebhook(rotated.webhook), secret: rotated.secret } };
}

export function nameOf({ params, caller }: Call<WebhookParams, unknown, unknown>): store.WebhookName {
    return { webhookId: params.webhook_id, workspaceId: caller.workspaceId };
}

export async function mustFindWebhook(call: Call<WebhookParams, unknown, unknown>): Promise<store.Webhook> {
    const webhook = await store.findWebhook(call.app.db, nameOf(call));
    if (webhook === undefined) throw webhookNotFound();
    return webhook;
}

export function webhookNotFound(): Refusal {
    return new Refusal('WEBHOOK_NOT_FOUND');
}
