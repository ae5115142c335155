import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_TYPES, type EventType } from '../../shared/domain/events/event-types.ts';
import { type Db, openDb } from '../../shared/platform/db.ts';
import { recordEvents } from '../../shared/store/events/events.ts';
import type { Figures } from '../results.ts';
import { openAccount } from '../stack/neighbours.ts';
import { type Started, startNode } from '../stack/processes.ts';
import type { Bench, Round } from './scenario.ts';

const RECEIVERS = 50;
const PER_SECOND = 1000;
/** Events a second while workers are killed. This part only checks that nothing is lost. */
const PER_SECOND_OVER_KILLS = 200;
const KILLS = 20;
const TICK_MS = 50;
const WARM_MS = 3000;
const MEASURED_MS = 15_000;
/** How long the last events may take to arrive. */
const LATEST_MS = 120_000;

/** A webhook that receives one type of event of its workspace, so that each event goes to one receiver. */
interface Subscription {
    workspaceId: string;
    type: EventType;
    isGood: boolean;
}

interface Hooks {
    receivers: Started;
    base: string;
    subscriptions: Subscription[];
    db: Db;
    settings: Record<string, string>;
}

let hooks: Hooks | undefined;

/** W1: events of webhooks to many receivers, while one receiver hangs and one fails, and while workers are killed. */
export const WEBHOOKS: Round = {
    name: 'webhooks',
    open: openHooks,
    scenarios: [
        { name: 'webhooks_beside', run: beside },
        { name: 'webhooks_killed', run: overKills },
    ],
};

/** The delivery times to the good receivers: first while all receivers work, then while one hangs and one fails. */
async function beside(bench: Bench): Promise<Figures> {
    await behave('well');
    const alone = await measured(bench);
    await behave('ill');
    const ill = await measured(bench);
    await behave('well');
    return {
        count: ill.events,
        per_second: ill.perSecond,
        p50_ms: ill.p50,
        p99_ms: ill.p99,
        alone_p50_ms: alone.p50,
        alone_p99_ms: alone.p99,
        lost: alone.lost + ill.lost,
    };
}

/** Kills the only worker again and again while events are recorded. */
async function overKills(bench: Bench): Promise<Figures> {
    const { settings } = opened();
    await report();
    const stopped = new AbortController();
    const recording = recordAtRate(PER_SECOND_OVER_KILLS, stopped.signal);
    const kills = bench.isQuick ? 2 : KILLS;
    try {
        for (let kill = 0; kill < kills; kill++) {
            await sleep(1000);
            for (const { pid } of bench.stack.production.workers) process.kill(pid, 'SIGKILL');
            await bench.stack.replaceWorkers(1, settings);
        }
    } finally {
        stopped.abort();
    }
    const { good } = await recording;
    const { events } = await untilArrived(good);
    return { count: events, kills, lost: good - events };
}

/** Warms up, then records events for a while and waits until all events of the good receivers have arrived. */
async function measured(bench: Bench): Promise<{ events: number; perSecond: number; p50: number; p99: number; lost: number }> {
    const warmed = await recordAtRate(PER_SECOND, AbortSignal.timeout(bench.isQuick ? 1000 : WARM_MS));
    await untilArrived(warmed.good);
    const began = performance.now();
    const { all, good } = await recordAtRate(PER_SECOND, AbortSignal.timeout(bench.isQuick ? 2000 : MEASURED_MS));
    const perSecond = (all * 1000) / (performance.now() - began);
    const { events, p50, p99 } = await untilArrived(good);
    return { events, perSecond, p50, p99, lost: good - events };
}

/**
 * Records events at this rate until the signal, for all receivers in turn.
 * @returns the number of events, and of those for good receivers
 */
async function recordAtRate(perSecond: number, until: AbortSignal): Promise<{ all: number; good: number }> {
    const { db, subscriptions } = opened();
    const began = performance.now();
    let all = 0;
    let good = 0;
    while (!until.aborted) {
        const due = Math.floor(((performance.now() - began) * perSecond) / 1000) - all;
        const chosen = Array.from({ length: due }, (_, at) => subscriptions[(all + at) % RECEIVERS] as Subscription);
        await recordEvents(
            db,
            chosen.map(({ workspaceId, type }) => ({ type, workspaceId, data: { at: Date.now() } })),
        );
        all += due;
        good += chosen.filter(({ isGood }) => isGood).length;
        await sleep(TICK_MS);
    }
    return { all, good };
}

interface Report {
    events: number;
    p50: number;
    p99: number;
}

/** Waits until this many events have arrived, or until the time limit. */
async function untilArrived(good: number): Promise<Report> {
    const { db } = opened();
    const waiting = db('webhook_deliveries').where({ status: 'pending' }).where('host', 'like', 'good%').limit(1);
    const unplaced = db('events').whereNull('position').limit(1);
    for (const end = performance.now() + LATEST_MS; performance.now() < end; await sleep(100)) {
        const [deliveries, events] = await Promise.all([waiting.clone().select('id'), unplaced.clone().select('id')]);
        if (deliveries.length + events.length === 0) break;
    }
    const arrived = await report();
    if (arrived.events > good) throw new Error(`${arrived.events} events arrived, ${good} were recorded`);
    return arrived;
}

async function report(): Promise<Report> {
    return (await (await fetch(`${opened().base}/report`)).json()) as Report;
}

async function behave(how: 'well' | 'ill'): Promise<void> {
    await fetch(`${opened().base}/${how}`);
}

async function openHooks({ stack }: Bench): Promise<() => Promise<void>> {
    const receivers = startNode('bench/stack/receivers.ts');
    const port = Number((await receivers.line('port ')).slice('port '.length));
    const names = Array.from({ length: RECEIVERS }, (_, at) => `${['hangs', 'fails'][at] ?? 'good'}${at}.hooks.test`);
    const { EGRESS_HOSTS = '', EGRESS_ALLOW = '', DATABASE_URL = '' } = stack.settings.production;
    const settings = {
        EGRESS_HOSTS: [EGRESS_HOSTS, ...names.map((name) => `${name}=127.0.0.1`)].join(','),
        EGRESS_ALLOW: `${EGRESS_ALLOW},127.0.0.1/32:${port}`,
    };
    await stack.replaceApi(settings);
    await stack.replaceWorkers(1, settings);
    const db = openDb({ url: DATABASE_URL, poolSize: 4 });
    const subscriptions: Subscription[] = [];
    let key = '';
    for (const [at, name] of names.entries()) {
        const type = EVENT_TYPES[at % EVENT_TYPES.length] as EventType;
        if (at % EVENT_TYPES.length === 0) key = await openAccount(stack, `hooks-${port}-${at}`, 'pro', {});
        const id = await subscribe(stack.production.base, key, { url: `http://${name}:${port}/`, events: [type] });
        const row = await db('webhooks').where({ id }).first<{ workspace_id: string }>('workspace_id');
        subscriptions.push({ workspaceId: row.workspace_id, type, isGood: name.startsWith('good') });
    }
    hooks = { receivers, base: `http://127.0.0.1:${port}`, subscriptions, db, settings };
    return async () => {
        hooks = undefined;
        await db.destroy();
        await receivers.stop();
        await stack.replaceApi();
        await stack.replaceWorkers(1);
    };
}

async function subscribe(base: string, key: string, body: { url: string; events: string[] }): Promise<string> {
    const response = await fetch(`${base}/v1/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST /v1/webhooks: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: { webhook_id: string } }).data.webhook_id;
}

function opened(): Hooks {
    if (hooks === undefined) throw new Error('the receivers are not open');
    return hooks;
}
