import Joi from 'joi';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/events/delivery-schedule.ts';
import { EVENT_PREFIXES, EVENT_TYPES, TEST_EVENT } from '../domain/events/event-types.ts';
import { MAX_EVENTS } from '../domain/events/webhook-bounds.ts';
import { MAX_URL_CHARACTERS } from '../domain/events/webhook-url.ts';
import { contract } from './contract.ts';
import * as v from './vocabulary.ts';

export type WebhookParams = Record<'webhook_id', string>;
export type DeliveryParams = Record<'webhook_id' | 'delivery_id', string>;

export interface WebhookOrder {
    url: string;
    events: string[];
    description?: string | null;
    enabled?: boolean;
}

export interface WebhookEntry extends Required<WebhookOrder> {
    webhook_id: string;
    disabled_reason: 'caller' | 'gone' | 'failing' | 'backlog' | null;
    failing_since: string | null;
    created_at: string;
    updated_at: string;
    secret?: string;
}

export type WebhookDeleted = v.Deleted<'webhook_id'>;

export interface DeliveryEntry {
    delivery_id: string;
    event_id: string;
    type: string;
    status: DeliveryStatus;
    attempts: number;
    code: number | null;
    problem: string | null;
    answer: string | null;
    duration_ms: number | null;
    created_at: string;
    attempted_at: string | null;
    next_attempt_at: string | null;
}

export interface DeliveriesQuery extends v.PageQuery {
    status?: DeliveryStatus;
}

const url = () =>
    Joi.string()
        .max(MAX_URL_CHARACTERS)
        .description(
            'https on port 443, without credentials or fragment; the operator may allow other ports and http. The query is never logged',
        );
const events = () =>
    Joi.array()
        .items(
            Joi.string()
                .valid(...EVENT_TYPES, ...EVENT_PREFIXES)
                .messages({ 'any.only': '{{#label}} must be an event type such as job.succeeded, or a prefix such as job.*' }),
        )
        .min(1)
        .max(MAX_EVENTS)
        .description('Types, and prefixes such as job.*, which include types added later');
const description = () => v.publicText(1, 200, { lines: true }).allow(null).description('Your own description');
const enabled = () => Joi.boolean().description('false: no events are sent, and those that occur meanwhile are not sent later either');

const entry = (shown: { secret?: true } = {}) =>
    v.complete<WebhookEntry>({
        webhook_id: v.id('whk'),
        url: Joi.string(),
        events: v.texts(),
        description: Joi.string().allow(null),
        enabled: Joi.boolean(),
        disabled_reason: Joi.string()
            .valid('caller', 'gone', 'failing', 'backlog', null)
            .description(
                'caller: disabled by PATCH, or the person who last chose its URL or enabled it left the workspace or got the role billing; gone: the receiver answered 410; failing: all attempts failed for five days; backlog: more than 100,000 deliveries were waiting',
            ),
        failing_since: v.nullableTime().description('When the current series of failures began; null if none'),
        created_at: v.time(),
        updated_at: v.time(),
        ...(shown.secret ? { secret: Joi.string().description('whsec_ and 32 bytes in base64; returned only here') } : {}),
    } as Joi.StrictSchemaMap<WebhookEntry>);

const delivery = () =>
    v.complete<DeliveryEntry>({
        delivery_id: v.id('dlv'),
        event_id: Joi.string().description('evt_…, sent as the webhook-id header of every attempt'),
        type: Joi.string().valid(...EVENT_TYPES, TEST_EVENT),
        status: v
            .oneOf(DELIVERY_STATUSES)
            .description('failed: the last attempt failed; stopped: the webhook was disabled before delivery'),
        attempts: v.count(),
        code: Joi.number().integer().allow(null).description('The HTTP status of the last answer'),
        problem: Joi.string().allow(null).description('Why the last attempt failed'),
        answer: Joi.string().allow(null, '').description('The first 1,024 bytes of the last answer'),
        duration_ms: v.count().allow(null),
        created_at: v.time(),
        attempted_at: v.nullableTime(),
        next_attempt_at: v.nullableTime(),
    });

/** Shared by all webhook routes. Events concern the whole workspace. */
const COMMON = { tag: 'Webhooks', scope: 'account', ofWholeWorkspace: true } as const;

export const postWebhook = contract('postWebhook', 'POST /v1/webhooks', {
    ...COMMON,
    summary: 'Add a webhook',
    window: 'changes',
    description: 'The answer shows the secret, once. The owners of the workspace get an email. A workspace can have up to 20 webhooks.',
    body: {
        schema: Joi.object<WebhookOrder, true>({
            url: url().required(),
            events: events().required(),
            description: description(),
            enabled: enabled(),
        }),
        guard: 'lines',
    },
    answer: { status: 201, schema: () => entry({ secret: true }) },
    refusals: ['SITE_BLOCKED', 'PLAN_LIMIT'],
});

export const getWebhooks = contract('getWebhooks', 'GET /v1/webhooks', {
    ...COMMON,
    summary: 'List webhooks',
    window: 'reads',
    description: 'The webhooks of the workspace, newest first.',
    query: v.pageQuery(),
    answer: { shape: 'list', schema: () => v.listOf(entry()) },
});

export const getWebhook = contract('getWebhook', 'GET /v1/webhooks/{webhook_id}', {
    ...COMMON,
    summary: 'Read one webhook',
    window: 'reads',
    answer: { schema: () => entry() },
});

export const patchWebhook = contract('patchWebhook', 'PATCH /v1/webhooks/{webhook_id}', {
    ...COMMON,
    summary: 'Change a webhook',
    window: 'changes',
    description:
        'Omitted fields are unchanged. Waiting deliveries go to the new URL. Disabling stops waiting deliveries; POST …/redeliver sends them later. A member who changes the URL or enables a disabled webhook takes it over. On Free, it then gets the events about the credits of that member.',
    body: {
        schema: Joi.object<Partial<WebhookOrder>, true>({
            url: url(),
            events: events(),
            description: description(),
            enabled: enabled(),
        }),
        guard: 'lines',
    },
    answer: { schema: () => entry() },
    refusals: ['SITE_BLOCKED'],
});

export const deleteWebhook = contract('deleteWebhook', 'DELETE /v1/webhooks/{webhook_id}', {
    ...COMMON,
    summary: 'Delete a webhook',
    window: 'changes',
    answer: { schema: () => v.deleted('webhook_id') },
});

export const postWebhookRotate = contract('postWebhookRotate', 'POST /v1/webhooks/{webhook_id}/rotate', {
    ...COMMON,
    summary: 'Rotate the secret of a webhook',
    window: 'changes',
    description: 'The previous secret also signs for 24 hours. Any older secret stops signing at once.',
    answer: { schema: () => entry({ secret: true }) },
});

export const postWebhookTest = contract('postWebhookTest', 'POST /v1/webhooks/{webhook_id}/test', {
    ...COMMON,
    summary: 'Send a test event',
    window: 'reads',
    description: 'Sends an event of type webhook.test, even to a disabled webhook. Up to 10 a minute, together with POST …/redeliver.',
    answer: { status: 202, schema: () => delivery() },
});

export const getDeliveries = contract('getDeliveries', 'GET /v1/webhooks/{webhook_id}/deliveries', {
    ...COMMON,
    summary: 'List the deliveries of a webhook',
    window: 'reads',
    description: 'Newest first, of the last 14 days. `total` counts up to 100,000.',
    query: Joi.object<DeliveriesQuery, true>({ status: v.oneOf(DELIVERY_STATUSES), limit: v.limit(), cursor: v.cursor() }),
    answer: { shape: 'list', schema: () => v.listOf(delivery()) },
});

export const postRedeliver = contract('postRedeliver', 'POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
    ...COMMON,
    summary: 'Redeliver an event',
    window: 'reads',
    description:
        'Sends the delivery again at once, whatever its status, with the same webhook-id, even to a disabled webhook. Up to 10 a minute, together with POST …/test.',
    answer: { status: 202, schema: () => delivery() },
    refusals: ['NOT_FOUND'],
});
