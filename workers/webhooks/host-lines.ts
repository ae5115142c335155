import { AT_ONCE, UNPROVEN } from '../../shared/domain/events/webhook-bounds.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';
import { createFreeBounds } from './free-bounds.ts';

/** No more deliveries are read for a webhook with this many waiting in memory. */
const ENOUGH = 16;
const MAX_AT_ONCE = 1024;
/** Maximum number of concurrent requests to failing webhooks, so that others always find a slot even if thousands of receivers hang. */
const MAX_FAILING = 512;

/** How a delivery ended. `unsent`: the receiver got no request. */
export type SendEnd = 'delivered' | 'failed' | 'unsent';

interface Line extends Pick<DueDelivery, 'url' | 'hasDelivered' | 'failures'> {
    waiting: DueDelivery[];
    running: number;
}

interface Host {
    running: number;
    /** By webhook. The webhook that sent last is at the end. */
    lines: Map<string, Line>;
    /** When unproven webhooks may send again, on the monotonic clock. */
    pausedUntil: number;
}

/**
 * Schedules the deliveries in a worker's memory, by leased host. Limits concurrent deliveries to each webhook and host. The
 * webhooks of a host take turns, those with fewer failures first. Unproven webhooks are slowed down together, and those of a
 * free account have a pace, so that nobody can use webhooks to flood a host that does not expect them. A free account has a share of the
 * requests, so that others do not wait for its slow receivers.
 * @param send resolves when a delivery ended; it never rejects
 * @param now milliseconds of a monotonic clock
 */
export function createHostLines(send: (delivery: DueDelivery) => Promise<SendEnd>, now = () => performance.now()) {
    const free = createFreeBounds(now);
    const hosts = new Map<string, Host>();
    const known = new Map<string, string>();
    const running = new Set<Promise<void>>();
    let failing = 0;
    let isStopped = false;

    function begin(host: Host): void {
        let hasBegun = true;
        while (hasBegun && !isStopped) {
            hasBegun = false;
            for (const [webhookId, line] of [...host.lines].sort(([, a], [, b]) => a.failures - b.failures)) {
                if (host.running >= AT_ONCE.host || running.size >= MAX_AT_ONCE) return;
                const next = line.waiting[0];
                const isFull = line.running >= AT_ONCE.webhook || (isFailing(line) && failing >= MAX_FAILING);
                if (next === undefined || isFull || free.mustWait(next) || !mayBegin(host, line, now())) continue;
                line.waiting.shift();
                free.begin(next);
                hasBegun = true;
                host.lines.delete(webhookId);
                host.lines.set(webhookId, line);
                run(host, line, next);
            }
        }
    }

    function run(host: Host, line: Line, delivery: DueDelivery): void {
        host.running += 1;
        line.running += 1;
        const wasFailing = isFailing(line);
        if (wasFailing) failing += 1;
        const done = send(delivery).then((end) => {
            host.running -= 1;
            line.running -= 1;
            free.end(delivery);
            if (wasFailing) failing -= 1;
            if (delivery.url === line.url) recordEnd(host, line, end, now());
            running.delete(done);
            begin(host);
        });
        running.add(done);
    }

    const drop = (host: string) => {
        for (const line of hosts.get(host)?.lines.values() ?? []) {
            for (const { deliveryId } of line.waiting) known.delete(deliveryId);
            line.waiting = [];
        }
        hosts.delete(host);
    };
    return {
        hosts: () => [...hosts.keys()],
        /** Sets the leased hosts. Drops the waiting deliveries of all others. */
        setHosts(names: readonly string[]): void {
            const leased = new Set(names);
            for (const name of hosts.keys()) if (!leased.has(name)) drop(name);
            for (const name of leased) if (!hosts.has(name)) hosts.set(name, { running: 0, lines: new Map(), pausedUntil: 0 });
        },
        /** Adds deliveries and starts as many as the limits allow. */
        add(deliveries: readonly DueDelivery[]): void {
            for (const delivery of deliveries) {
                const { deliveryId, webhookId } = delivery;
                const host = hosts.get(delivery.host);
                if (host === undefined || known.has(deliveryId)) continue;
                known.set(deliveryId, delivery.host);
                const { url, hasDelivered, failures } = delivery;
                const line = getOrMake(host.lines, webhookId, () => ({ waiting: [], running: 0, url, hasDelivered, failures }));
                if (line.url !== url) Object.assign(line, { url, hasDelivered, failures });
                line.waiting.push(delivery);
            }
            free.forget();
            for (const host of hosts.values()) begin(host);
        },
        /** Ids of the deliveries that wait, run, or ended but are not recorded yet; and of the webhooks with ENOUGH waiting. */
        inMemory(): { known: string[]; full: string[] } {
            const lines = [...hosts.values()].flatMap((host) => [...host.lines]);
            return { known: [...known.keys()], full: lines.filter(([, { waiting }]) => waiting.length >= ENOUGH).map(([id]) => id) };
        },
        /** Forgets deliveries that were recorded or not sent, so that they can be added again. */
        forget(deliveryIds: readonly string[]): void {
            for (const id of deliveryIds) known.delete(id);
        },
        /** Hosts that have no deliveries in memory and are not paused. */
        idle(): string[] {
            const busy = new Set(known.values());
            const isPaused = (host: string) => (hosts.get(host)?.pausedUntil ?? 0) > now();
            return [...hosts.keys()].filter((host) => !busy.has(host) && !isPaused(host));
        },
        /** Hosts without running requests whose waiting deliveries are all to failing webhooks or of accounts on Free that have to wait. */
        heldUp(): string[] {
            const waits = (line: Line) => line.waiting[0] === undefined || isFailing(line) || free.mustWait(line.waiting[0]);
            const isHeldUp = ({ running: count, lines }: Host) => count === 0 && [...lines.values()].every(waits);
            return [...hosts].filter(([, host]) => isHeldUp(host)).map(([name]) => name);
        },
        /** Starts no further requests. Resolves when none is running. */
        async stop(): Promise<void> {
            isStopped = true;
            while (running.size > 0) await Promise.all(running);
        },
    };
}

/** Whether a webhook never delivered, or failed too often in a row. */
function isUnproven({ hasDelivered, failures }: Line): boolean {
    return !hasDelivered || failures >= UNPROVEN.failures;
}

function isFailing(line: Line): boolean {
    return isUnproven(line) && line.failures > 0;
}

function mayBegin({ lines, pausedUntil }: Host, line: Line, now: number): boolean {
    if (!isUnproven(line)) return true;
    if (now < pausedUntil) return false;
    if (line.failures === 0) return true;
    let sent = 0;
    for (const other of lines.values()) if (isFailing(other)) sent += other.running;
    return sent < UNPROVEN.atOnce;
}

function recordEnd(host: Host, line: Line, end: SendEnd, now: number): void {
    if (end === 'unsent') return;
    line.failures = end === 'delivered' ? 0 : line.failures + 1;
    if (end === 'delivered') line.hasDelivered = true;
    else if (isUnproven(line)) host.pausedUntil = now + UNPROVEN.pauseMs;
}
