import type { App } from '../../shared/app.ts';
import { retryAfter } from '../../shared/domain/events/delivery-schedule.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import type { Db } from '../../shared/platform/db.ts';
import * as queue from '../../shared/store/events/delivery-queue.ts';
import { disableWebhooks, warnOfFailing } from '../../shared/store/events/disable-webhooks.ts';
import type { EgressConnector } from '../egress.ts';
import { type DuePoller, every, type Repeated, repeat } from '../repeat.ts';
import { createHostLines, type SendEnd } from './host-lines.ts';
import { openDeliverySender } from './send-delivery.ts';

type DueDelivery = queue.DueDelivery;

const TURN_MS = 100;
/** How often leases are renewed; much shorter than a lease. */
const RENEW_MS = 1500;
const MAX_HOSTS = 500;
/** A worker with MAX_HOSTS hosts releases at most so many at a time, all of whose deliveries have to wait. */
const MAX_RELEASED = 50;
/** Attempts recorded in one statement. */
const MAX_RECORDED = 500;
/** How long running requests may take on shutdown. Another worker repeats requests that take longer. */
const LAST_MS = 2000;
const GONE = 410;

/**
 * Sends due deliveries. Every worker does this. Each host belongs to one worker while deliveries wait for it, so that its limits hold.
 * Nothing is written before a request: if a worker dies, no delivery is lost, but unrecorded ones are sent again.
 */
export function startDeliveries(app: App, poller: DuePoller, connector: EgressConnector): Repeated {
    const { db } = app;
    const holder = newId('op');
    const status = watchConnection(app.log, 'webhooks');
    const sender = openDeliverySender(app, { connector, onError: status.down });
    const lines = createHostLines(send);
    const ended = createEndedAttempts(db, (ids) => lines.forget(ids));
    const isRenewalDue = every(RENEW_MS);
    let areHostsDue = false;
    // Hosts are taken in a turn, because a renewal at the same time would drop them.
    const hosts = poller.add({
        part: 'webhooks',
        due: queue.HOST_IS_DUE,
        async work() {
            areHostsDue = true;
        },
    });

    async function send(delivery: DueDelivery): Promise<SendEnd> {
        const { deliveryId, webhookId, attempts } = delivery;
        const end = await sender.send(delivery);
        if (end === undefined) {
            lines.forget([deliveryId]);
            return 'unsent';
        }
        const wait = retryAfter(attempts + 1, Math.random());
        const isGone = end.code === GONE;
        const retryMs = end.isDelivered || isGone || wait === undefined ? null : wait * 1000;
        const { isSent, ...outcome } = end;
        ended.add({ ...outcome, deliveryId, webhookId, retryMs }, isGone);
        const result = end.isDelivered ? 'delivered' : 'failed';
        app.metrics.webhookAttempts.inc({ result });
        return isSent ? result : 'unsent';
    }

    async function renewAndTakeHosts(): Promise<void> {
        if (isRenewalDue() && lines.hosts().length > 0) lines.setHosts(await queue.renewHosts(db, holder, lines.hosts()));
        if (!areHostsDue) return;
        areHostsDue = false;
        // Without this, many failing or paced receivers would keep all others waiting.
        if (lines.hosts().length >= MAX_HOSTS) await release(lines.heldUp().slice(0, MAX_RELEASED));
        const leased = lines.hosts();
        if (leased.length < MAX_HOSTS) lines.setHosts([...leased, ...(await queue.takeHosts(db, holder, MAX_HOSTS - leased.length))]);
    }

    async function readDeliveries(): Promise<void> {
        if (lines.hosts().length === 0) return;
        lines.add(await queue.readDue(db, { hosts: lines.hosts(), ...lines.inMemory() }));
        await release(lines.idle());
    }

    async function release(released: readonly string[]): Promise<void> {
        if (released.length === 0) return;
        await queue.releaseHosts(db, holder, released);
        lines.setHosts(lines.hosts().filter((host) => !released.includes(host)));
    }

    const turns = repeat(TURN_MS, async () => {
        try {
            await ended.record();
            await renewAndTakeHosts();
            await readDeliveries();
            status.up();
        } catch (error) {
            status.down(error);
        }
    });
    return {
        async stop() {
            await hosts.stop();
            await turns.stop();
            const late = setTimeout(sender.abort, LAST_MS);
            await lines.stop();
            clearTimeout(late);
            await sender.close();
            try {
                while (ended.areLeft()) await ended.record();
                await queue.releaseHosts(db, holder, lines.hosts());
            } catch (error) {
                status.down(error);
            }
        },
    };
}

/** Creates the list of ended attempts that are not recorded yet. @param recorded gets the ids of their deliveries */
function createEndedAttempts(db: Db, recorded: (deliveryIds: string[]) => void) {
    const ended: { attempt: queue.Attempt; isGone: boolean }[] = [];
    return {
        add: (attempt: queue.Attempt, isGone: boolean) => void ended.push({ attempt, isGone }),
        areLeft: () => ended.length > 0,
        /** Records the oldest attempts. If that fails, they are recorded later. */
        async record(): Promise<void> {
            const taken = ended.slice(0, MAX_RECORDED);
            if (taken.length === 0) return;
            const attempts = taken.map(({ attempt }) => attempt);
            // Disables webhooks before it records the attempts, so that no further delivery of these webhooks becomes due.
            await disableWebhooks(db, [...new Set(taken.filter(({ isGone }) => isGone).map(({ attempt }) => attempt.webhookId))], 'gone');
            const { toDisable, toWarn } = await queue.recordAttempts(db, attempts);
            ended.splice(0, taken.length);
            recorded(attempts.map(({ deliveryId }) => deliveryId));
            await disableWebhooks(db, toDisable, 'failing');
            await warnOfFailing(db, toWarn);
        },
    };
}
