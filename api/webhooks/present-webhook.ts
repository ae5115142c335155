import type { DeliveryEntry, WebhookEntry } from '../../shared/contracts/webhooks.ts';
import type { Delivery } from '../../shared/store/events/deliveries.ts';
import type { Webhook } from '../../shared/store/events/webhooks.ts';

export function presentWebhook(webhook: Webhook): WebhookEntry {
    const { webhookId, url, events, description, isEnabled, disabledReason, failingSince, createdAt, updatedAt } = webhook;
    return {
        webhook_id: webhookId,
        url,
        events,
        description,
        enabled: isEnabled,
        disabled_reason: disabledReason,
        failing_since: failingSince?.toISOString() ?? null,
        created_at: createdAt.toISOString(),
        updated_at: updatedAt.toISOString(),
    };
}

export function presentDelivery(delivery: Delivery): DeliveryEntry {
    const { deliveryId, eventId, type, status, attempts, code, problem, answer, durationMs, createdAt, attemptedAt, dueAt } = delivery;
    return {
        delivery_id: deliveryId,
        event_id: eventId,
        type,
        status,
        attempts,
        code,
        problem,
        answer,
        duration_ms: durationMs,
        created_at: createdAt.toISOString(),
        attempted_at: attemptedAt?.toISOString() ?? null,
        next_attempt_at: dueAt?.toISOString() ?? null,
    };
}
