import { Webhook } from 'standardwebhooks';
import type { App } from '../../shared/app.ts';
import { retryAfter } from '../../shared/domain/events/delivery-schedule.ts';
import { AT_ONCE } from '../../shared/domain/events/webhook-bounds.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import { userAgent } from '../../shared/platform/user-agent.ts';
import * as queue from '../../shared/store/events/delivery-queue.ts';
import { disableWebhooks, WEBHOOK_PURPOSE, warnOfFailing } from '../../shared/store/events/webhooks.ts';
import type { EgressConnector } from '../egress.ts';
import { type Repeated, repeat } from '../repeat.ts';
import { openEventBodies } from './event-bodies.ts';
import { createHostLines, type HostLines } from './host-lines.ts';
import { createEventPoster, type PostEnd } from './post-event.ts';

type DueDelivery = queue.DueDelivery;

const TURN_MS = 100;
/** How often free hosts are looked for, and held ones renewed: well within the time for which they are held. */
const LOOK_MS = 250;
const RENEW_MS = 1500;
/** Hosts of one worker. */
const MOST_HOSTS = 500;
/** Attempts that are written together. */
const MOST_RECORDED = 500;
/** On closing, requests that run have so long to end, in milliseconds; then another worker sends them again. */
const LAST_MS = 2000;
const GONE = 410;

/**
 * Sends deliveries that are due. Every worker does: each host is one worker's for as long as something waits for it, so that the bounds
 * hold. Nothing is written before a request: a worker that dies loses no delivery, and what it had just sent is sent again.
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
    const lines: HostLines = createHostLines(AT_ONCE, (delivery) => send(delivery));
    const isDue = { look: every(LOOK_MS), renew: every(RENEW_MS) };

    async function send(delivery: DueDelivery): Promise<void> {
        const { deliveryId, webhookId, attempts } = delivery;
        const end = await attempt(delivery);
        if (end === undefined) return lines.forget([deliveryId]);
        const wait = retryAfter(attempts + 1, Math.random());
        const isGone = end.code === GONE;
        const retryMs = end.isDelivered || isGone || wait === undefined ? null : wait * 1000;
        ended.push({ attempt: { ...end, deliveryId, webhookId, retryMs }, isGone });
        app.metrics.webhookAttempts.inc({ result: end.isDelivered ? 'delivered' : 'failed' });
    }

    /** @returns undefined where nothing was sent, or it is not known how it ended: it stays due */
    async function attempt(delivery: DueDelivery): Promise<PostEnd | undefined> {
        if (delivery.isBlocked) return notSent('The site of the receiver is blocked here.');
        try {
            const body = await bodies.build(delivery);
            const headers = await headersOf(app, delivery, body);
            if (headers === undefined) return notSent('The secret of this webhook cannot be decrypted here: rotate it.');
            const end = await poster.post({ url: delivery.url, headers, body }, stopped.signal);
            return stopped.signal.aborted && end.code === null ? undefined : end;
        } catch (error) {
            status.down(error);
            return undefined;
        }
    }

    /** Writes what ended. Where that fails, it is tried again. */
    async function record(): Promise<void> {
        const taken = ended.slice(0, MOST_RECORDED);
        if (taken.length === 0) return;
        // First: of the deliveries of such a webhook none is due again.
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

    const turns = repeat(TURN_MS, async () => {
        try {
            await record();
            if (isDue.renew() && lines.hosts().length > 0) lines.keep(await queue.renewHosts(db, holder, lines.hosts()));
            if (isDue.look() && lines.hosts().length < MOST_HOSTS) {
                lines.take(await queue.takeHosts(db, holder, MOST_HOSTS - lines.hosts().length));
            }
            if (lines.hosts().length > 0) {
                lines.add(await queue.readDue(db, { hosts: lines.hosts(), known: lines.known(), full: lines.full() }));
                const idle = lines.idle();
                if (idle.length > 0) await queue.releaseHosts(db, holder, idle);
                lines.drop(idle);
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
    return { isDelivered: false, code: null, problem, answer: null, durationMs: 0 };
}

/** Headers of Standard Webhooks; undefined where no key of the ring opens the secret. The time is that of the attempt: a late one is no replay. */
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

/** A function that says once in so many milliseconds that it is time. */
function every(ms: number): () => boolean {
    let at = Number.NEGATIVE_INFINITY;
    return () => {
        if (performance.now() - at < ms) return false;
        at = performance.now();
        return true;
    };
}
