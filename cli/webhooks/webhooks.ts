import { defined } from '../../shared/domain/defined.ts';
import { pollUntil } from '../../shared/platform/poll-until.ts';
import { fieldLines, table } from '../../shared/platform/table.ts';
import type { DeliveryEntry, WebhookEntry } from '../client/index.ts';
import { wrongUsage } from '../failures.ts';
import { type Done, done, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';

interface AddOptions {
    events: string[];
    description?: string;
}

/** `routebook webhook add URL --events a,b`: adds a webhook and shows its secret once. */
export async function addWebhook(
    { client, terminal: { paint } }: Session,
    url: string,
    { events, description }: AddOptions,
): Promise<Done> {
    const webhook = await client().webhooks.create(defined({ url, events, description }));
    return {
        result: webhook,
        lines: [
            `${paint('green', '✓')} webhook ${webhook.webhook_id} receives ${webhook.events.join(', ')}`,
            '',
            `  ${webhook.secret}`,
            '',
            'Save this secret; it is not shown again.',
            'Your program verifies requests with it (verifyWebhook).',
            `Send a first event: ${PROGRAM} webhook test ${webhook.webhook_id}`,
        ],
    };
}

export async function listWebhooks({ client, terminal }: Session): Promise<Done> {
    const webhooks = await client().webhooks.list({ limit: 100 }).all();
    const result = { webhooks };
    if (webhooks.length === 0) return { result, lines: [`No webhooks; "${PROGRAM} webhook add URL --events job.*" adds one.`] };
    const rows = webhooks.map((one) => [one.webhook_id, stateOf(one), one.url, one.events.join(' ')]);
    return { result, lines: table(['webhook', 'state', 'url', 'events'], rows, terminal) };
}

export async function showWebhook({ client, terminal }: Session, webhookId: string): Promise<Done> {
    return shown(await client().webhooks.get(webhookId), terminal);
}

function shown(webhook: WebhookEntry, terminal: Session['terminal']): Done {
    const fields = [
        ['webhook', webhook.webhook_id],
        ['url', webhook.url],
        ['events', webhook.events.join(', ')],
        ['state', stateOf(webhook)],
        ['created', webhook.created_at],
        ['description', webhook.description],
    ] as const;
    return { result: webhook, lines: fieldLines(fields, terminal) };
}

interface ChangeOptions {
    url?: string;
    events?: string[];
    description?: string;
}

export async function changeWebhook({ client, terminal }: Session, webhookId: string, options: ChangeOptions): Promise<Done> {
    const { url, events, description } = options;
    const change = defined({ url, events, description });
    if (Object.keys(change).length === 0) throw wrongUsage("name a change, such as --events 'job.*'");
    return shown(await client().webhooks.update(webhookId, change), terminal);
}

export const enableWebhook = setEnabled(true);
export const disableWebhook = setEnabled(false);

function setEnabled(enabled: boolean) {
    return async ({ client, terminal }: Session, webhookId: string): Promise<Done> =>
        shown(await client().webhooks.update(webhookId, { enabled }), terminal);
}

/** `routebook webhook rotate ID`: shows the new secret once. */
export async function rotateWebhook({ client }: Session, webhookId: string): Promise<Done> {
    const webhook = await client().webhooks.rotate(webhookId);
    const note = 'Save this secret; it is not shown again. The old one also signs for 24 hours.';
    return { result: webhook, lines: [`  ${webhook.secret}`, '', note] };
}

export async function deleteWebhook({ client, terminal }: Session, webhookId: string): Promise<Done> {
    return done(await client().webhooks.delete(webhookId), terminal, `webhook ${webhookId} is deleted`);
}

/** `routebook webhook test ID`: sends an event and waits for the attempt. Fails if the delivery failed. */
export async function testWebhook(session: Session, webhookId: string): Promise<Done> {
    return outcomeOf(session, webhookId, await session.client().webhooks.test(webhookId));
}

/** `routebook webhook redeliver ID DELIVERY`: sends a delivery again and waits for the attempt. Fails if the delivery failed. */
export async function redeliver(session: Session, webhookId: string, deliveryId: string): Promise<Done> {
    return outcomeOf(session, webhookId, await session.client().webhooks.redeliver(webhookId, deliveryId));
}

async function outcomeOf({ client, terminal }: Session, webhookId: string, sent: DeliveryEntry): Promise<Done> {
    const { paint } = terminal;
    const { webhooks } = client();
    const progress = terminal.progress(`sending ${sent.type}`);
    const tried = await nextAttempt(sent, async () => {
        for await (const one of webhooks.deliveries(webhookId, { limit: 100 })) if (one.delivery_id === sent.delivery_id) return one;
        return undefined;
    }).finally(() => progress.end());
    const took = `${tried.duration_ms ?? 0} ms`;
    if (tried.status === 'delivered') {
        return done(tried, terminal, `delivered: the receiver answered ${tried.code} in ${took}`);
    }
    const why =
        tried.attempts === sent.attempts
            ? 'It has not been sent yet: no worker is available.'
            : (tried.problem ?? `The receiver answered ${tried.code}.`);
    return { result: tried, lines: [`${paint('red', '✗')} ${why}`], isFailure: true };
}

/** A receiver has 10 s to answer, and workers check for due deliveries several times a second. */
const LOOKS = { everyMs: 300, maxMs: 15_000 };

async function nextAttempt(sent: DeliveryEntry, look: () => Promise<DeliveryEntry | undefined>): Promise<DeliveryEntry> {
    return (await pollUntil(LOOKS, look, (seen) => seen !== undefined && seen.attempts !== sent.attempts)) ?? sent;
}

export async function listDeliveries(
    { client, terminal }: Session,
    webhookId: string,
    { status, limit }: { status?: DeliveryEntry['status']; limit: number },
): Promise<Done> {
    const { items: deliveries } = await client().webhooks.deliveries(webhookId, defined({ limit, status })).page();
    const result = { deliveries };
    if (deliveries.length === 0) return { result, lines: ['No deliveries in the last 14 days.'] };
    const rows = deliveries.map((one) => [one.delivery_id, one.status, one.type, one.code, one.attempts, one.problem, one.created_at]);
    return { result, lines: table(['delivery', 'status', 'event', 'code', 'attempts', 'problem', 'created'], rows, terminal) };
}

function stateOf({ enabled, disabled_reason: reason, failing_since: since }: WebhookEntry): string {
    // The reason `caller` does not say whether a member disabled it or left.
    if (!enabled) return reason === 'caller' ? 'disabled' : `disabled (${reason})`;
    return since === null ? 'enabled' : `failing since ${since}`;
}
