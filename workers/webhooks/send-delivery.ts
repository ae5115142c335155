import { Webhook } from 'standardwebhooks';
import type { App } from '../../shared/app.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { WEBHOOK_PURPOSE } from '../../shared/store/events/webhooks.ts';
import { type EgressConnector, egressRules } from '../egress.ts';
import { openEventBodies } from './event-bodies.ts';
import { createEventPoster, type PostEnd } from './post-event.ts';

interface DeliverySender {
    /** @returns undefined if nothing was sent or the outcome is unknown; the delivery stays due */
    send(delivery: DueDelivery): Promise<PostEnd | undefined>;
    /** Aborts the running requests. */
    abort(): void;
    close(): Promise<void>;
}

/** Opens the sender of signed events. @param onError called when an event cannot be read, decrypted or sent */
export function openDeliverySender(
    app: App,
    { connector, onError }: { connector: EgressConnector | undefined; onError: (error: unknown) => void },
): DeliverySender {
    const poster = createEventPoster(egressRules(app.config), connector);
    const bodies = openEventBodies(app);
    const aborted = new AbortController();
    return {
        async send(delivery) {
            if (delivery.isBlocked) return notSent("The receiver's domain is blocked in Routebook.");
            try {
                const body = await bodies.build(delivery);
                const headers = await headersOf(app, delivery, body);
                if (headers === undefined) return notSent('The secret of this webhook cannot be decrypted. Rotate it.');
                const end = await poster.post({ url: delivery.url, headers, body }, aborted.signal);
                return aborted.signal.aborted && end.code === null ? undefined : end;
            } catch (error) {
                onError(error);
                return undefined;
            }
        },
        abort: () => aborted.abort(),
        async close() {
            await bodies.close();
            poster.close();
        },
    };
}

function notSent(problem: string): PostEnd {
    return { isSent: false, isDelivered: false, code: null, problem, answer: null, durationMs: 0 };
}

/** Headers of Standard Webhooks, with the time of the attempt. Undefined if no key of the ring opens the secret. */
async function headersOf(
    app: App,
    { eventId, sealed, formerSealed }: DueDelivery,
    body: string,
): Promise<Record<string, string> | undefined> {
    const at = new Date();
    const secrets = await Promise.all([sealed, formerSealed].map((one) => one && app.secrets.open(one, WEBHOOK_PURPOSE)));
    const signatures = secrets.flatMap((secret) => (secret ? [new Webhook(secret.toString()).sign(eventId, at, body)] : []));
    if (signatures.length === 0) return undefined;
    return {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': userAgent(app.publicUrl()),
        'webhook-id': eventId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
    };
}
