import { Webhook } from 'standardwebhooks';
import type { App } from '../../shared/app.ts';
import { eventData, isAboutJob, readJobsOfEvents } from '../../shared/fetch/event-data.ts';
import { openBatch } from '../../shared/platform/batch.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { WEBHOOK_PURPOSE } from '../../shared/store/events/webhooks.ts';
import type { EventJobRow } from '../../shared/store/jobs/jobs.ts';
import type { EgressConnector } from '../egress.ts';
import { createEventPoster, type PostEnd } from './post-event.ts';

/** Opens the sender of signed events. @param onError called when an event cannot be read, decrypted or sent */
export function openDeliverySender(app: App, { connector, onError }: { connector: EgressConnector; onError: (error: unknown) => void }) {
    const poster = createEventPoster(connector);
    const bodies = openEventBodies(app);
    const aborted = new AbortController();
    return {
        /** @returns undefined if nothing was sent or the outcome is unknown; the delivery stays due */
        async send(delivery: DueDelivery): Promise<PostEnd | undefined> {
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

/** Jobs read in one query; each may have a result. */
const MAX_TOGETHER = 50;

/** Builds the bodies of events when they are sent, so that deleted results are not sent. Jobs of concurrent calls are read in one query. */
function openEventBodies(app: App) {
    const jobs = openBatch<string, EventJobRow | undefined>({
        run: (ids) => readJobsOfEvents(app.db, ids),
        maxSize: MAX_TOGETHER,
    });
    return {
        async build({ type, at, ...event }: Pick<DueDelivery, 'type' | 'at' | 'data' | 'about'>): Promise<string> {
            const data = await eventData(app, app.db, event, isAboutJob(event.about) ? await jobs.add(event.about) : undefined);
            return `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(at.toISOString())},"data":${data}}`;
        },
        close: () => jobs.close(),
    };
}
