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
 * The good site is called alone before and after, half as long each as beside the strangers: what drifts meanwhile meets both. What was
 * alone after one row is alone before the next.
 */
const ALONE_MS = 4000;
/** It is measured again where it is older. */
const FRESH_MS = 15_000;
const BESIDE_MS = 8000;
/** Their accounts may call as often as they like; what they do in 24 h is bounded besides, so that each row has one of its own. */
const MANY = { 'per-minute': 1e9, 'per-hour': 1e9, 'per-day': 1e9, allowance: 1e9, credits: 1e9, concurrency: 50 };
/** How many strangers are on their way at once. */
const HANDS = { reading: 8, package: 8, crowd: 120 } as const;
/** Sites that strangers may publish for: one for each time that some of them come. */
const SITES = Array.from({ length: 1000 }, (_, number) => `stranger${number}.test`);

interface Ground {
    nextSite: number;
    accounts: number;
    alone: (Watching<LoadFigures> & { at: number }) | undefined;
    /** How often API and worker told their turns. */
    turnsTold: number;
}

let ground: Ground | undefined;

/**
 * X1: what a good site's callers, an API and a worker notice of strangers, row by row of the tables in test/hostile. A row that says that
 * another one does nearly the same is left to the tests.
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

/** Alone, beside the strangers, and alone again; what an API's turns and a worker's memory were is told of the time beside them. */
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

/** The good site's callers. */
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
    /** What each process took meanwhile, and what all of the machine did. */
    cores: Figures;
    /** How often the strangers heard each status. */
    heard: Record<string, number>;
}

/** @param isPlain they do no harm and fetch as many bytes: what is fetched has to be somewhere */
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

/** Does something, and tells the most memory that worker and children had meanwhile. */
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
    /** Those of more than 25 ms. */
    slow: number;
    p999: number;
    most: number;
}

/** What the turns of the event loops of API and worker were since this was asked last. */
async function turnsSince({ stack: { production } }: Bench): Promise<[api: Turns, worker: Turns]> {
    const sign = `turns ${++groundNow().turnsTold} `;
    const told = async (started: Started | undefined): Promise<Turns> => {
        if (started === undefined) throw new Error('there is no worker');
        process.kill(started.pid, 'SIGUSR2');
        return JSON.parse((await started.line(sign)).slice(sign.length)) as Turns;
    };
    return Promise.all([told(production.api), told(production.workers[0])]);
}

function groundNow(): Ground {
    if (ground === undefined) throw new Error('the strangers have no ground');
    return ground;
}
