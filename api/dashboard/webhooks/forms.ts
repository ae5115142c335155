import type { WebhookEntry } from '../../../shared/contracts/webhooks.ts';
import { MAX_URL_CHARACTERS } from '../../../shared/domain/events/webhook-url.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { besideField, line, type Problems, readFields } from '../fields.ts';
import type { ApiAnswer, ApiCall } from '../internal-api.ts';
import type { Notice } from '../notices.ts';
import { type Answer, pageNotFound, type Shown, type WorkspaceVisit } from '../page.ts';
import { findWebhook, listWebhooks, showWebhook } from './show.ts';

const FIELDS = {
    url: line({ maxLength: MAX_URL_CHARACTERS }),
    events: line({ maxLength: 1000 }),
    description: line({ minLength: 0, maxLength: 200 }),
};

/** POST /dashboard/webhooks. The next page shows the secret once. */
export async function createByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, FIELDS);
    if (!read.ok) return listWebhooks(visit, read.problems);
    const answer = await visit.ask({ method: 'POST', path: '/v1/webhooks', body: bodyOf(read.values) });
    if (!answer.ok) return listWebhooks(visit, problemsOf(answer.refused));
    return showSecret(answer.body['data'] as WebhookEntry, false);
}

/** POST …/edit. Deliveries that wait go to the new URL. */
export async function changeByForm(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, FIELDS);
    if (!read.ok) return showWebhook(visit, { problems: read.problems });
    const { id, answer } = await act(visit, 'PATCH', '', bodyOf(read.values));
    if (!answer.ok) return showWebhook(visit, { problems: problemsOf(answer.refused) });
    return { to: `/dashboard/webhooks/${id}`, notice: 'webhook-changed' };
}

function bodyOf({ url, events, description }: { url: string; events: string; description: string }) {
    const names = events.split(/[\s,]+/).filter((name) => name !== '');
    return { url, events: names, description: description === '' ? null : description };
}

/** Maps the API's problems to fields of the form. */
function problemsOf({ message, details = [] }: ErrorBody): Problems {
    const problems: Record<string, string> = {};
    for (const { path, message: text } of details) {
        const field = path.split('/')[1] ?? '';
        problems[field in FIELDS ? field : ''] ??= besideField(text);
    }
    return Object.keys(problems).length === 0 ? { '': message } : problems;
}

export async function rotateByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { answer } = await act(visit, 'POST', '/rotate');
    return answer.ok ? showSecret(answer.body['data'] as WebhookEntry, true) : showWebhook(visit, { refused: answer.refused });
}

function showSecret({ webhook_id: id, secret, url }: WebhookEntry, isRotated: boolean): Shown {
    return { view: 'webhooks/secret', title: 'Webhook secret', model: { id, secret, url, isRotated } };
}

export async function setEnabled(visit: WorkspaceVisit, enabled: boolean): Promise<Answer> {
    return done(visit, await act(visit, 'PATCH', '', { enabled }), enabled ? 'webhook-enabled' : 'webhook-disabled');
}

export async function testByForm(visit: WorkspaceVisit): Promise<Answer> {
    return done(visit, await act(visit, 'POST', '/test'), 'webhook-sent');
}

export async function redeliverByForm(visit: WorkspaceVisit): Promise<Answer> {
    const path = `/deliveries/${encodeURIComponent(visit.params['delivery_id'] ?? '')}/redeliver`;
    return done(visit, await act(visit, 'POST', path), 'webhook-sent');
}

export async function deleteByForm(visit: WorkspaceVisit): Promise<Answer> {
    const { answer } = await act(visit, 'DELETE', '');
    return answer.ok ? { to: '/dashboard/webhooks', notice: 'webhook-deleted' } : showWebhook(visit, { refused: answer.refused });
}

/** @throws Refusal NOT_FOUND if there is no such webhook or delivery */
async function act(
    visit: WorkspaceVisit,
    method: ApiCall['method'],
    path: string,
    body?: object,
): Promise<{ id: string; answer: ApiAnswer }> {
    const { webhook_id: id } = await findWebhook(visit);
    const answer = await visit.ask({ method, path: `/v1/webhooks/${id}${path}`, body });
    if (!answer.ok && answer.refused.code === 'NOT_FOUND') throw pageNotFound();
    return { id, answer };
}

function done(visit: WorkspaceVisit, { id, answer }: { id: string; answer: ApiAnswer }, notice: Notice): Answer | Promise<Answer> {
    return answer.ok ? { to: `/dashboard/webhooks/${id}`, notice } : showWebhook(visit, { refused: answer.refused });
}
