import { Webhook } from 'standardwebhooks';
import type { App } from '../../shared/app.ts';
import { retryAfter } from '../../shared/domain/events/delivery-schedule.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import * as queue from '../../shared/store/events/delivery-queue.ts';
import { disableWebhooks, WEBHOOK_PURPOSE, warnOfFailing } from '../../shared/store/events/webhooks.ts';
import type { EgressConnector } from '../egress.ts';
import { type Repeated, repeat } from '../repeat.ts';
import { openEventBodies } from './event-bodies.ts';
import { createHostLines, type HostLines, type SendEnd } from './host-lines.ts';
import { createEventPoster, type PostEnd } from './post-event.ts';

type DueDelivery = queue.DueDelivery;

const TURN_MS = 100;
/** How often free hosts are leased and leases are renewed; much shorter than a lease. */
const LOOK_MS = 250;
const RENEW_MS = 1500;
/** The most hosts of one worker. */
const MAX_HOSTS = 500;
/** The most hosts without a delivery that may begin that a worker with MAX_HOSTS hosts releases at a time. */
const MAX_RELEASED = 50;
/** Attempts recorded in one statement. */
const MAX_RECORDED = 500;
/** How long running requests may take on shutdown, in milliseconds. Another worker repeats requests that take longer. */
const LAST_MS = 2000;
const GONE = 410;

/**
 * Sends due deliveries. Every worker does this. Each host belongs to one worker while deliveries wait for it, so that its limits hold.
 * Nothing is written before a request: if a worker dies, no delivery is lost, but unrecorded ones are sent again.
 */
export function startDeliveries(app: App, { connector }: { connector?: EgressConnector } = {}): Repeated {
    const { config, db, log } = app;
    const rules = { allow: config.egressAllow, hosts: config.egressHosts, proxyUrl: config.egressProxyUrl };
    const poster = createEventPoster(rules, connector);
    const bodies = openEventBodies(app);
    const holder = newId('op');
    const status = watchConnection(log, 'webhooks');
    const stopped = new AbortController();
    const ended: { attempt: queue.Attempt; isGone: boolean }[] = [];
    const lines: HostLines = createHostLines((delivery) => send(delivery));
    const isDue = { look: every(LOOK_MS), renew: every(RENEW_MS) };

    async function send(delivery: DueDelivery): Promise<SendEnd> {
        const { deliveryId, webhookId, attempts } = delivery;
        const end = await attempt(delivery);
        if (end === undefined) {
            lines.forget([deliveryId]);
            return 'unsent';
        }
        const wait = retryAfter(attempts + 1, Math.random());
        const isGone = end.code === GONE;
        const retryMs = end.isDelivered || isGone || wait === undefined ? null : wait * 1000;
        const { isSent, ...outcome } = end;
        ended.push({ attempt: { ...outcome, deliveryId, webhookId, retryMs }, isGone });
        const result = end.isDelivered ? 'delivered' : 'failed';
        app.metrics.webhookAttempts.inc({ result });
        return isSent ? result : 'unsent';
    }

    /** @returns undefined if nothing was sent or the outcome is unknown; the delivery stays due */
    async function attempt(delivery: DueDelivery): Promise<PostEnd | undefined> {
        if (delivery.isBlocked) return notSent("The receiver's domain is blocked in Routebook.");
        try {
            const body = await bodies.build(delivery);
            const headers = await headersOf(app, delivery, body);
            if (headers === undefined) return notSent('The secret of this webhook cannot be decrypted. Rotate it.');
            const end = await poster.post({ url: delivery.url, headers, body }, stopped.signal);
            return stopped.signal.aborted && end.code === null ? undefined : end;
        } catch (error) {
            status.down(error);
            return undefined;
        }
    }

    /** Records ended attempts. If that fails, they are recorded later. */
    async function record(): Promise<void> {
        const taken = ended.slice(0, MAX_RECORDED);
        if (taken.length === 0) return;
        // Disables webhooks before it records the attempts, so that no further delivery of these webhooks becomes due.
        await disableWebhooks(db, [...new Set(taken.filter(({ isGone }) => isGone).map(({ attempt }) => attempt.webhookId))], 'gone');
        const { toDisable, toWarn } = await queue.recordAttempts(
            db,
            taken.map(({ attempt }) => attempt),
        );
        ended.splice(0, taken.length);
        lines.forget(taken.map(({ attempt }) => attempt.deliveryId));
        await disableWebhooks(db, toDisable, 'failing');
        await warnOfFailing(db, toWarn);
    }

    async function release(hosts: readonly string[]): Promise<void> {
        if (hosts.length > 0) await queue.releaseHosts(db, holder, hosts);
        lines.drop(hosts);
    }

    const turns = repeat(TURN_MS, async () => {
        try {
            await record();
            if (isDue.renew() && lines.hosts().length > 0) lines.keep(await queue.renewHosts(db, holder, lines.hosts()));
            if (isDue.look()) {
                // Without this, many failing receivers would keep all others waiting.
                if (lines.hosts().length >= MAX_HOSTS) await release(lines.heldUp().slice(0, MAX_RELEASED));
                if (lines.hosts().length < MAX_HOSTS) lines.take(await queue.takeHosts(db, holder, MAX_HOSTS - lines.hosts().length));
            }
            if (lines.hosts().length > 0) {
                lines.add(await queue.readDue(db, { hosts: lines.hosts(), known: lines.known(), full: lines.full() }));
                await release(lines.idle());
            }
            status.up();
        } catch (error) {
            status.down(error);
        }
    });
    return {
        async stop() {
            await turns.stop();
            lines.stop();
            const late = setTimeout(() => stopped.abort(), LAST_MS);
            await lines.ended();
            clearTimeout(late);
            await bodies.close();
            poster.close();
            try {
                while (ended.length > 0) await record();
                await queue.releaseHosts(db, holder, lines.hosts());
            } catch (error) {
                status.down(error);
            }
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

/** Creates a function that returns true at most once per `ms` milliseconds. */
function every(ms: number): () => boolean {
    let at = Number.NEGATIVE_INFINITY;
    return () => {
        if (performance.now() - at < ms) return false;
        at = performance.now();
        return true;
    };
}
