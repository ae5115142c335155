import type { App } from '../../shared/app.ts';
import type { WebhookEntry, WebhookOrder, WebhookParams } from '../../shared/contracts/webhooks.ts';
import { MAX_WEBHOOKS } from '../../shared/domain/events/webhook-bounds.ts';
import { type Receiver, readReceiver } from '../../shared/domain/events/webhook-url.ts';
import { siteBlocked } from '../../shared/domain/site/read-site.ts';
import { normaliseNewlines } from '../../shared/domain/text/text-rule.ts';
import type { InTurn } from '../../shared/platform/in-turn.ts';
import { invalidField } from '../../shared/refusals.ts';
import { changeWebhook as storeChange } from '../../shared/store/events/change-webhook.ts';
import * as store from '../../shared/store/events/webhooks.ts';
import { planLimit } from '../answers/plan-limit.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';
import { presentWebhook } from './present-webhook.ts';
import { nameOf, webhookNotFound } from './webhooks.ts';

/** POST /v1/webhooks */
export async function addWebhook(call: Call<object, object, WebhookOrder>): Promise<Reply<WebhookEntry>> {
    const { app, body, caller } = call;
    const { workspaceId, userId } = caller;
    const { url, events, enabled = true } = body;
    const receiver = await checkReceiver(app, url);
    const description = descriptionOf(body) ?? null;
    const order = { workspaceId, userId, receiver, events: [...new Set(events)], description, isEnabled: enabled, by: byCall(call) };
    const made = await store.createWebhook(app.db, app.secrets, order);
    if (made === undefined) throw planLimit(app, caller, `This workspace has ${MAX_WEBHOOKS} webhooks, which is the limit: delete one.`);
    const { webhook, secret } = made;
    return { answer: { ...presentWebhook(webhook), secret }, headers: { location: `/v1/webhooks/${webhook.webhookId}` } };
}

/** PATCH /v1/webhooks/{webhook_id} */
export async function changeWebhook(
    call: Call<WebhookParams, object, Partial<WebhookOrder>>,
    inTurn: InTurn,
): Promise<Reply<WebhookEntry>> {
    const { app, body } = call;
    const { userId } = call.caller;
    const { url, events, enabled } = body;
    const receiver = url === undefined ? undefined : await checkReceiver(app, url);
    const given = { receiver, events: events && [...new Set(events)], description: descriptionOf(body), isEnabled: enabled };
    const webhook = await storeChange(app.db, nameOf(call), { ...given, userId, by: byCall(call) }, inTurn);
    if (webhook === undefined) throw webhookNotFound();
    return { answer: presentWebhook(webhook) };
}

function descriptionOf({ description }: Partial<WebhookOrder>): string | null | undefined {
    return description && normaliseNewlines(description);
}

/** Validates the URL of a webhook. The egress guard checks its address at each delivery. @throws Refusal VALIDATION_ERROR, SITE_BLOCKED */
async function checkReceiver(app: App, url: string): Promise<Receiver> {
    const read = readReceiver(url, { allow: app.config.egressAllow, publicUrl: app.publicUrl() });
    if (!read.ok) throw invalidField('/url', `url ${read.message}.`);
    if (await store.isReceiverBlocked(app.db, read.receiver)) throw siteBlocked();
    return read.receiver;
}
