import type { DeliveryEntry, WebhookEntry } from '../../shared/contracts/webhooks.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { Delivery } from '../../shared/store/events/deliveries.ts';
import type { Webhook } from '../../shared/store/events/webhooks.ts';

export function presentWebhook({ isEnabled: enabled, ...webhook }: Webhook): WebhookEntry {
    return presentFields(
        { ...webhook, enabled },
        'webhook_id url events description enabled disabled_reason failing_since created_at updated_at',
    );
}

export function presentDelivery(delivery: Delivery): DeliveryEntry {
    return {
        ...presentFields(delivery, 'delivery_id event_id type status attempts code problem answer duration_ms created_at attempted_at'),
        next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    };
}
