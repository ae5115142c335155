import type { DeliveryEntry, WebhookEntry } from '../../../shared/contracts/webhooks.ts';
import { EVENT_PREFIXES, EVENT_TYPES } from '../../../shared/domain/events/event-types.ts';
import { MAX_WEBHOOKS } from '../../../shared/domain/events/webhook-bounds.ts';
import { MAX_URL_CHARACTERS } from '../../../shared/domain/events/webhook-url.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { besideField, keepTyped, line, type Problems, problemsAt, readFields } from '../fields.ts';
import type { ApiCall } from '../internal-api.ts';
import type { Notice } from '../notices.ts';
import { type Answer, MANAGERS, pageNotFound, type Shown, type WorkspaceVisit, workspacePage } from '../page.ts';
import { change, dateOf, pagerOf, readData, readList } from '../read-api.ts';

const ONE = '/dashboard/webhooks/{webhook_id}';
/** Options of actions that send events elsewhere or show a secret. They require a recent sign-in. */
const CONFIRMED = { method: 'POST', audience: MANAGERS, needsRecentSignIn: true } as const;
const FORM = { method: 'POST', audience: MANAGERS } as const;

export const webhookPages = [
    workspacePage({ method: 'GET', path: '/dashboard/webhooks', audience: MANAGERS, respond: (visit) => listWebhooks(visit) }),
    workspacePage({ ...CONFIRMED, path: '/dashboard/webhooks', respond: createByForm }),
    workspacePage({ method: 'GET', path: ONE, audience: MANAGERS, respond: (visit) => showWebhook(visit) }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/edit`, respond: changeByForm }),
    workspacePage({
        ...CONFIRMED,
        path: `${ONE}/rotate`,
        respond: (visit) => act(visit, { method: 'POST', path: '/rotate' }, (webhook) => showSecret(webhook, true)),
    }),
    workspacePage({ ...FORM, path: `${ONE}/enable`, respond: (visit) => setEnabled(visit, true) }),
    workspacePage({ ...FORM, path: `${ONE}/disable`, respond: (visit) => setEnabled(visit, false) }),
    workspacePage({ ...FORM, path: `${ONE}/test`, respond: (visit) => act(visit, { method: 'POST', path: '/test' }, 'webhook-sent') }),
    workspacePage({
        ...FORM,
        path: `${ONE}/delete`,
        respond: (visit) => act(visit, { method: 'DELETE', path: '' }, () => ({ to: '/dashboard/webhooks', notice: 'webhook-deleted' })),
    }),
    workspacePage({ ...FORM, path: `${ONE}/deliveries/{delivery_id}/redeliver`, respond: redeliverByForm }),
];

const EVENTS = [...EVENT_PREFIXES, ...EVENT_TYPES];

const DELIVERIES = 10;

/** The number of webhooks on one page. */
const ROWS = '10';

/** GET /dashboard/webhooks */
async function listWebhooks(visit: WorkspaceVisit, problems: Problems = {}): Promise<Shown> {
    const cursor = visit.query('cursor');
    const { items: webhooks, next } = await readList<WebhookEntry>(visit, '/v1/webhooks', { cursor, limit: ROWS });
    return {
        view: 'webhooks/list',
        title: 'Webhooks',
        model: {
            webhooks,
            ...pagerOf('/dashboard/webhooks', {}, { cursor, next }),
            max: MAX_WEBHOOKS,
            names: EVENTS,
            events: visit.query('events') ?? 'job.*',
            problems,
            typed: keepTyped(visit.fields),
        },
    };
}

/**
 * GET /dashboard/webhooks/{webhook_id}: the webhook and its last deliveries.
 * @param refused the API's error if a form had no effect; problems those of the fields
 */
async function showWebhook(
    visit: WorkspaceVisit,
    { refused, problems = {} }: { refused?: ErrorBody; problems?: Problems } = {},
): Promise<Shown> {
    const webhook = await readData<WebhookEntry>(visit, pathOf(visit));
    const deliveries = await readData<DeliveryEntry[]>(visit, `${pathOf(visit)}/deliveries?limit=${DELIVERIES}`);
    return {
        view: 'webhooks/one',
        title: 'Webhook',
        status: refused && (refused.retry_after === undefined ? 422 : 429),
        retryAfter: refused?.retry_after,
        model: {
            webhook: { ...webhook, createdAt: new Date(webhook.created_at), failingSince: dateOf(webhook.failing_since) },
            deliveries: deliveries.map((one) => ({
                ...one,
                createdAt: new Date(one.created_at),
                nextAttemptAt: dateOf(one.next_attempt_at),
            })),
            max: DELIVERIES,
            problem: refused?.message,
            problems,
            typed: keepTyped(visit.fields),
            names: EVENTS,
        },
    };
}

function idOf({ params }: WorkspaceVisit): string {
    return encodeURIComponent(params['webhook_id'] ?? '');
}

function pathOf(visit: WorkspaceVisit): string {
    return `/v1/webhooks/${idOf(visit)}`;
}

const FIELDS = {
    url: line({ maxLength: MAX_URL_CHARACTERS }),
    events: line({ maxLength: 1000 }),
    description: line({ minLength: 0, maxLength: 200 }),
};

/** POST /dashboard/webhooks. The next page shows the secret once. */
async function createByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, FIELDS);
    if (!read.ok) return listWebhooks(visit, read.problems);
    const call = { method: 'POST', path: '/v1/webhooks', body: bodyOf(read.values) } as const;
    const made = (webhook: WebhookEntry) => showSecret(webhook, false);
    return change(visit, call, made, (refused) => listWebhooks(visit, problemsOf(refused)));
}

/** POST …/edit. Deliveries that wait go to the new URL. */
async function changeByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, FIELDS);
    if (!read.ok) return showWebhook(visit, { problems: read.problems });
    const call = { method: 'PATCH', path: pathOf(visit), body: bodyOf(read.values) } as const;
    const problems = (refused: ErrorBody) => showWebhook(visit, { problems: problemsOf(refused) });
    return change(visit, call, { to: `/dashboard/webhooks/${idOf(visit)}`, notice: 'webhook-changed' }, problems);
}

function bodyOf({ url, events, description }: { url: string; events: string; description: string }) {
    const names = events.split(/[\s,]+/).filter((name) => name !== '');
    return { url, events: names, description: description === '' ? null : description };
}

function problemsOf(refused: ErrorBody): Problems {
    return problemsAt(refused, ({ path, message }) => {
        const field = path.split('/')[1] ?? '';
        return [field in FIELDS ? field : '', besideField(message)];
    });
}

function showSecret({ webhook_id: id, secret, url }: WebhookEntry, isRotated: boolean): Shown {
    return { view: 'webhooks/secret', title: 'Webhook secret', model: { id, secret, url, isRotated } };
}

function setEnabled(visit: WorkspaceVisit, enabled: boolean): Promise<Answer> {
    return act(visit, { method: 'PATCH', path: '', body: { enabled } }, enabled ? 'webhook-enabled' : 'webhook-disabled');
}

function redeliverByForm(visit: WorkspaceVisit): Promise<Answer> {
    const path = `/deliveries/${encodeURIComponent(visit.params['delivery_id'] ?? '')}/redeliver`;
    return act(visit, { method: 'POST', path }, 'webhook-sent');
}

/** Sends a change of the webhook of the path. @param done the notice on its page, or the answer @throws Refusal NOT_FOUND */
function act(visit: WorkspaceVisit, call: ApiCall, done: Notice | ((webhook: WebhookEntry) => Answer)): Promise<Answer> {
    const sent = typeof done === 'function' ? done : { to: `/dashboard/webhooks/${idOf(visit)}`, notice: done };
    return change(visit, { ...call, path: pathOf(visit) + call.path }, sent, (refused) => {
        // The webhook has no such delivery.
        if (refused.code === 'NOT_FOUND') throw pageNotFound();
        return showWebhook(visit, { refused });
    });
}
