import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadPlan } from '../load/plan.ts';
import { SENT } from '../load/sent.ts';
import type { Figures } from '../results.ts';
import { BOMB_KINDS, BOMBS, HANGS, neighbourPackages, neighbourSettings, openAccount, publish, SLOW } from '../stack/neighbours.ts';
import { rssMb, type Started, startNode, startStranger } from '../stack/processes.ts';
import { fetches, warm } from './fetches.ts';
import type { Bench, Round, Scenario } from './scenario.ts';

/** Fetches a second of a good site, to measure its p99. Far below the capacity of the machine, so that waiting becomes visible. */
const GOOD_PER_SECOND = 60;
const MEASURED_MS = 8000;
/** Keep-alive connections of browsing clients, like those of a proxy. */
const BROWSERS = 500;
/** The least share of its planned load that a disturbance must have sent. */
const DELIVERED = 0.9;

interface Neighbourhood {
    hostile: Started;
    hostileBase: string;
    /** The key of an account without limits. */
    rich: string;
    /** The key of a Starter account: 20 concurrent fetches. */
    starter: string;
}

let neighbourhood: Neighbourhood | undefined;

/**
 * E7, I5, I12, L6, L7, L10: the latency of a good site during disturbances by others. Each is measured against an undisturbed run right
 * before it, since the speed of a shared machine drifts. Disturbances run at low CPU priority, as if on another machine, and a round fails
 * if they sent too little. Each disturbance is a separate round.
 */
export const ISOLATION: readonly Round[] = [
    round('bombs', { name: 'beside_bombs', run: besideBombs }, { name: 'one_bomb', run: oneBomb }),
    round(
        'hanging',
        beside('beside_hanging', ({ rich }) => ({ ...fetchesOf(HANGS, 'hang', rich), pace: { perSecond: 20 } })),
    ),
    round(
        'greedy',
        // 20 concurrent calls of five seconds are only four calls a second.
        beside('beside_greedy', ({ starter }) => ({ ...fetchesOf(SLOW, 'slow', starter), pace: { perSecond: 400 } })),
    ),
    round(
        'browsing',
        beside('beside_browsing', () => ({
            path: '/v1/schemas/bench.test',
            bodies: [],
            key: undefined,
            pace: { perSecond: 2000 },
            connections: BROWSERS,
        })),
    ),
    round(
        'bad_keys',
        { name: 'beside_mistyped_keys', run: (bench) => besideBadKeys(bench, 'mistyped') },
        { name: 'beside_unknown_keys', run: (bench) => besideBadKeys(bench, 'unknown') },
    ),
    round('slow_sockets', { name: 'beside_slow_sockets', run: besideSlowSockets }),
];

function round(name: string, ...scenarios: Scenario[]): Round {
    return { name, scenarios, open: openNeighbourhood };
}

/** The hostile site and accounts for disturbances. */
async function openNeighbourhood(bench: Bench): Promise<() => Promise<void>> {
    const { stack } = bench;
    const hostile = startNode('bench/stack/hostile.ts');
    const port = Number((await hostile.line('port ')).slice('port '.length));
    const settings = neighbourSettings(stack, port);
    await stack.replaceApi(settings);
    await stack.replaceWorkers(1, settings);
    const { base, apiKey } = stack.production;
    for (const document of neighbourPackages(stack, port)) await publish(base, apiKey, document);
    const many = { 'per-minute': 1e9, 'per-hour': 1e9, 'per-day': 1e9, allowance: 1e9, credits: 1e9 };
    const [rich, starter] = await Promise.all([
        openAccount(stack, `rich-${port}`, 'pro', { ...many, concurrency: 1e9 }),
        openAccount(stack, `starter-${port}`, 'starter', { ...many, concurrency: 20 }),
    ]);
    await warm(bench);
    neighbourhood = { hostile, hostileBase: `http://127.0.0.1:${port}`, rich, starter };
    return async () => {
        await hostile.stop();
        await stack.replaceApi();
        await stack.replaceWorkers(1);
    };
}

interface Nuisance {
    path: string;
    bodies: string[];
    key: string | undefined;
    pace: { perSecond: number };
    connections?: number;
}

const fetchesOf = (site: string, endpoint: string, key: string) => ({
    path: '/v1/fetch',
    bodies: [JSON.stringify({ site, endpoint, params: {} })],
    key,
});

/** The load of the good site's callers. */
function goodSite(bench: Bench): Promise<Figures> {
    const { production } = bench.stack;
    return fetches(bench, {
        service: production,
        watched: { api: production.api, worker: production.workers[0] ?? production.api },
        endpoints: ['item'],
        pace: { perSecond: GOOD_PER_SECOND },
        measuredMs: MEASURED_MS,
    });
}

function beside(name: string, nuisanceOf: (where: Neighbourhood) => Nuisance): Scenario {
    return { name, run: (bench) => besideLoad(bench, nuisanceOf(openedNeighbourhood()), () => goodSite(bench)) };
}

function openedNeighbourhood(): Neighbourhood {
    if (neighbourhood === undefined) throw new Error('the neighbourhood is not open');
    return neighbourhood;
}

/** Measures the good site while a disturbance runs in a separate process. */
function besideLoad(bench: Bench, nuisance: Nuisance, measure: () => Promise<Figures>): Promise<Figures> {
    const { path, bodies, key, pace, connections = 0 } = nuisance;
    const plan: LoadPlan = {
        url: `${bench.stack.production.base}${path}`,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        bodies,
        pace,
        connections,
        warmupMs: 0,
        measuredMs: 120_000,
    };
    const start = () => startStranger('bench/load/generate.ts', [JSON.stringify(plan)]);
    return besideProcess(bench, { start, perSecond: pace.perSecond }, measure);
}

/** 100,000 guesses a minute. */
function besideBadKeys(bench: Bench, kind: 'mistyped' | 'unknown'): Promise<Figures> {
    const { hostname, port } = new URL(bench.stack.production.base);
    const perSecond = 100_000 / 60;
    const start = () => startStranger('bench/load/bad-keys.ts', [hostname, port, String(perSecond), kind]);
    return besideProcess(bench, { start, perSecond }, () => goodSite(bench));
}

async function besideProcess(
    bench: Bench,
    nuisance: { start(): Started; perSecond: number },
    measure: () => Promise<Figures>,
): Promise<Figures> {
    const alone = await aloneFirst(bench);
    const load = nuisance.start();
    try {
        await load.line('load begins');
        // Wait until a hanging site has filled all slots that it can fill.
        await sleep(bench.isQuick ? 500 : 2000);
        const figures = await measure();
        const [sent] = await Promise.all([load.line(SENT), load.stop()]);
        const perSecond = Number(sent.slice(SENT.length));
        if (perSecond < DELIVERED * nuisance.perSecond)
            throw new Error(`only ${perSecond} of ${nuisance.perSecond} calls a second were sent`);
        return { ...figures, ...alone, nuisance_per_second: perSecond };
    } finally {
        await load.stop();
    }
}

/** Measures the good site alone, right before a disturbance. */
async function aloneFirst(bench: Bench): Promise<Figures> {
    const { p50_ms = Number.NaN, p99_ms = Number.NaN } = await goodSite(bench);
    return { alone_p50_ms: p50_ms, alone_p99_ms: p99_ms };
}

/**
 * Twenty bombs a second of alternating kinds: the peak memory of the worker, and how long a site could still send beyond the size limit.
 */
async function besideBombs(bench: Bench): Promise<Figures> {
    const { rich, hostileBase } = openedNeighbourhood();
    await report(hostileBase);
    const bodies = BOMB_KINDS.map((endpoint) => JSON.stringify({ site: BOMBS, endpoint, params: {}, timeout_ms: 2000 }));
    const watch = watchWorker(bench);
    const measure = () => goodSite(bench);
    const figures = await besideLoad(bench, { path: '/v1/fetch', bodies, key: rich, pace: { perSecond: 20 } }, measure).finally(watch.stop);
    const { before, greatest } = watch.stop();
    const { thrown, longest_ms } = await report(hostileBase);
    if (thrown < 20) throw new Error(`only ${thrown} bombs were thrown`);
    return { ...figures, worker_before_mb: before, worker_mb: greatest, cut_after_ms: longest_ms };
}

/** The memory that one bomb of each kind adds to a warm idle worker. */
async function oneBomb(bench: Bench): Promise<Figures> {
    const { rich } = openedNeighbourhood();
    const { base } = bench.stack.production;
    const figures: Figures = {};
    for (const kind of BOMB_KINDS) {
        await sleep(bench.isQuick ? 200 : 1000);
        const watch = watchWorker(bench);
        await fetch(`${base}/v1/fetch`, {
            method: 'POST',
            headers: { authorization: `Bearer ${rich}`, 'content-type': 'application/json' },
            body: JSON.stringify({ site: BOMBS, endpoint: kind, params: {}, timeout_ms: 2000 }),
        });
        const { before, greatest } = watch.stop();
        figures[`${kind}_mb`] = Math.max(0, greatest - before);
    }
    return { ...figures, most_mb: Math.max(...Object.values(figures)) };
}

/** A thousand connections with endless headers and a thousand with endless bodies. They are closed while the good site is measured. */
async function besideSlowSockets(bench: Bench): Promise<Figures> {
    const { base, apiKey } = bench.stack.production;
    const alone = await aloneFirst(bench);
    const sockets = startStranger('bench/load/slow-sockets.ts', [new URL(base).port, '1000', apiKey]);
    try {
        await sockets.line('all are open');
        const figures = await goodSite(bench);
        const cut = JSON.parse(await sockets.line('headers_s')) as { headers_s: number; body_s: number; sent_share: number };
        if (cut.sent_share < DELIVERED) throw new Error(`only ${cut.sent_share} of the bytes that were due were sent`);
        return { ...figures, ...alone, ...cut };
    } finally {
        await sockets.stop();
    }
}

function watchWorker({ stack: { production } }: Bench): { stop(): { before: number; greatest: number } } {
    const pid = production.workers[0]?.pid ?? 0;
    const before = rssMb(pid);
    let greatest = before;
    const timer = setInterval(() => {
        greatest = Math.max(greatest, rssMb(pid));
    }, 20);
    return {
        stop() {
            clearInterval(timer);
            return { before, greatest };
        },
    };
}

async function report(hostileBase: string): Promise<{ thrown: number; longest_ms: number }> {
    return (await (await fetch(`${hostileBase}/report`)).json()) as { thrown: number; longest_ms: number };
}
