import { setTimeout as sleep } from 'node:timers/promises';
import type { Stranger } from '../../test/hostile/stranger.ts';
import { STRANGERS } from '../../test/hostile/strangers.ts';
import { type Loaded, runLoad, type Watched } from '../load/load.ts';
import { BEGIN, figuresOf, type LoadFigures } from '../load/plan.ts';
import { HEARD, type StrangerPlan } from '../load/stranger-plan.ts';
import type { Figures } from '../results.ts';
import { openAccount } from '../stack/neighbours.ts';
import { fetchBodies } from '../stack/package.ts';
import { familyMb, type Started, startStranger } from '../stack/processes.ts';
import { strangerScenario } from '../strangers.ts';
import { production, times, warm } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

/** Fetches a second of a good site, as in the rounds of isolation. */
const GOOD_PER_SECOND = 60;
/**
 * The good site is measured alone before and after each row. Both together take as long as the measurement during the row, so drift affects
 * both equally. The measurement after a row is also the one before the next row.
 */
const ALONE_MS = 2500;
/** Older measurements of the good site alone are repeated. */
const FRESH_MS = 15_000;
const BESIDE_MS = 5000;
/** Limits of the strangers' accounts. Each row has its own account, since limits per 24 h remain. */
const MANY = { 'per-minute': 1e9, 'per-hour': 1e9, 'per-day': 1e9, allowance: 1e9, credits: 1e9, concurrency: 50 };
/** Concurrent strangers. */
const HANDS = { reading: 8, package: 8, crowd: 120 } as const;
/** Sites for publishing strangers, one for each run of a row. */
const SITES = Array.from({ length: 1000 }, (_, number) => `stranger${number}.test`);

interface Ground {
    nextSite: number;
    accounts: number;
    alone: (Watching<LoadFigures> & { at: number }) | undefined;
    /** How often API and worker reported their event-loop turns. */
    turnsTold: number;
}

let ground: Ground | undefined;

/**
 * X1: the effect of strangers on a good site's callers, an API and a worker, for each row of the tables in test/hostile. Rows marked as
 * similar to another row are only tested.
 */
export const BESIDE_STRANGERS: Round = {
    name: 'strangers',
    scenarios: STRANGERS.filter(({ isVariant = false }) => !isVariant).map((stranger) => ({
        name: strangerScenario(stranger.name),
        run: (bench) => beside(bench, stranger),
    })),
    open: openGround,
};

async function openGround(bench: Bench): Promise<() => Promise<void>> {
    const { stack } = bench;
    const { EGRESS_HOSTS = '' } = stack.settings.production;
    const settings = {
        EGRESS_HOSTS: [EGRESS_HOSTS, ...SITES.map((site) => `${site}=127.0.0.1`)].join(','),
        EGRESS_ALLOW: '127.0.0.1/32',
    };
    await stack.replaceApi({ ...settings, NODE_OPTIONS: '--import=./bench/stack/turns.ts' });
    await stack.replaceWorkers(1, { ...settings, NODE_OPTIONS: '--import=./bench/stack/turns.ts' });
    ground = { nextSite: 0, accounts: 0, alone: undefined, turnsTold: 0 };
    await warm(bench);
    return async () => {
        ground = undefined;
        await stack.replaceApi();
        await stack.replaceWorkers(1);
    };
}

/** Measures alone, with the strangers, and alone again. Event-loop turns and memory are those during the strangers. */
async function beside(bench: Bench, stranger: Stranger): Promise<Figures> {
    const apiKey = await openAccount(bench.stack, `stranger-${process.pid}-${++groundNow().accounts}`, 'pro', MANY);
    const { alone: last } = groundNow();
    const before = last !== undefined && performance.now() < last.at + FRESH_MS ? last : await goodSiteAlone(bench);
    const plain = stranger.kind === 'reading' ? await whileWatched(bench, () => whileThere(bench, stranger, apiKey, true)) : undefined;
    await turnsSince(bench);
    const { result: disturbed, worker_mb } = await whileWatched(bench, () => whileThere(bench, stranger, apiKey, false));
    const [turns, workerTurns] = await turnsSince(bench);
    await sleep(bench.isQuick ? 200 : 1000);
    const after = await goodSiteAlone(bench);
    const alone = together(before.result, after.result);
    return {
        p50_ms: disturbed.good.p50,
        p99_ms: disturbed.good.p99,
        failed: disturbed.good.failed,
        alone_p50_ms: alone.p50,
        alone_p99_ms: alone.p99,
        alone_failed: alone.failed,
        turns: turns.turns,
        turns_over_25_ms: turns.slow,
        turn_p999_ms: turns.p999,
        turn_most_ms: turns.most,
        worker_turn_p999_ms: workerTurns.p999,
        worker_turn_most_ms: workerTurns.most,
        worker_mb,
        worker_added_mb: Math.max(0, worker_mb - (plain ?? before).worker_mb),
        ...(plain === undefined ? {} : { plain_p99_ms: plain.result.good.p99 }),
        ...disturbed.cores,
        ...Object.fromEntries(Object.entries(disturbed.heard).map(([status, count]) => [`heard_${status}`, count])),
    };
}

async function goodSiteAlone(bench: Bench): Promise<Watching<LoadFigures>> {
    const alone = await whileWatched(bench, async () => (await loadGoodSite(bench, ALONE_MS, {})).figures);
    groundNow().alone = { ...alone, at: performance.now() };
    return alone;
}

/** The load of the good site's callers. */
async function loadGoodSite(bench: Bench, measuredMs: number, watched: Record<string, Watched>): Promise<Loaded<string>> {
    const { base, apiKey } = bench.stack.production;
    const plan = {
        url: `${base}/v1/fetch`,
        headers: { authorization: `Bearer ${apiKey}` },
        bodies: fetchBodies('item'),
        pace: { perSecond: GOOD_PER_SECOND },
        tellsTimes: true,
        ...times(bench, measuredMs),
    };
    return runLoad(plan, watched);
}

function together(one: LoadFigures, other: LoadFigures): LoadFigures {
    const seconds = (one.count + other.count) / GOOD_PER_SECOND;
    return figuresOf([...(one.times ?? []), ...(other.times ?? [])], one.failed + other.failed, seconds);
}

interface WhileThere {
    good: LoadFigures;
    /** CPU of each process and of the whole machine meanwhile. */
    cores: Figures;
    /** Answers to the strangers by status. */
    heard: Record<string, number>;
}

/**
 * Measures while strangers are active.
 * @param isPlain use harmless strangers that fetch as many bytes, to see how much memory the bytes alone need
 */
async function whileThere(bench: Bench, { name, kind }: Stranger, apiKey: string, isPlain: boolean): Promise<WhileThere> {
    const strangers = await comes(bench, { row: name, isPlain, size: HANDS[kind], apiKey });
    try {
        const withChildren = Object.entries(production(bench.stack)).map(([name, { pid }]) => [name, { pid, children: true }]);
        const watched = { ...Object.fromEntries(withChildren), strangers: { pid: strangers.pid } };
        const loaded = await loadGoodSite(bench, BESIDE_MS, watched);
        return { good: loaded.figures, cores: coresOf(loaded), heard: await goes(strangers) };
    } finally {
        await strangers.stop();
    }
}

function coresOf({ cpu, figures: { count, failed }, busyCores }: Loaded<string>): Figures {
    const seconds = (count + failed) / GOOD_PER_SECOND;
    const taken = Object.entries(cpu).map(([name, used]): [string, number] => [`cores_${name}`, used / seconds]);
    return { ...Object.fromEntries(taken), cores_busy: busyCores };
}

async function comes({ stack }: Bench, who: Omit<StrangerPlan, 'base' | 'site'>): Promise<Started> {
    const here = groundNow();
    const site = SITES[here.nextSite++];
    if (site === undefined) throw new Error('there is no site left for strangers');
    const plan: StrangerPlan = { ...who, base: stack.production.base, site };
    const strangers = startStranger('bench/load/stranger.ts', [JSON.stringify(plan)]);
    await strangers.line(BEGIN);
    return strangers;
}

async function goes(strangers: Started): Promise<Record<string, number>> {
    const [heard] = await Promise.all([strangers.line(HEARD), strangers.stop()]);
    return JSON.parse(heard.slice(HEARD.length)) as Record<string, number>;
}

interface Watching<Result> {
    result: Result;
    worker_mb: number;
}

/** Runs `work` and returns the peak memory of the worker and its children. */
async function whileWatched<Result>({ stack: { production } }: Bench, work: () => Promise<Result>): Promise<Watching<Result>> {
    const pid = production.workers[0]?.pid ?? 0;
    let most = familyMb(pid);
    const timer = setInterval(() => {
        most = Math.max(most, familyMb(pid));
    }, 20);
    try {
        return { result: await work(), worker_mb: most };
    } finally {
        clearInterval(timer);
    }
}

interface Turns {
    turns: number;
    /** Turns of more than 25 ms. */
    slow: number;
    p999: number;
    most: number;
}

/** Event-loop turns of API and worker since the last call. */
async function turnsSince({ stack: { production } }: Bench): Promise<[api: Turns, worker: Turns]> {
    const sign = `turns ${++groundNow().turnsTold} `;
    const turnsOf = async (started: Started | undefined): Promise<Turns> => {
        if (started === undefined) throw new Error('there is no worker');
        process.kill(started.pid, 'SIGUSR2');
        return JSON.parse((await started.line(sign)).slice(sign.length)) as Turns;
    };
    return Promise.all([turnsOf(production.api), turnsOf(production.workers[0])]);
}

function groundNow(): Ground {
    if (ground === undefined) throw new Error('the strangers have no ground');
    return ground;
}
