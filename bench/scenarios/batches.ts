import type { Batch } from '../../shared/contracts/batch-fields.ts';
import type { Figures } from '../results.ts';
import { openAccount } from '../stack/neighbours.ts';
import { SITE } from '../stack/package.ts';
import { cpuSeconds, rssMb } from '../stack/processes.ts';
import { bareGot, fetches, production, warm } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

/** Live calls a second during a batch. Far below the capacity of the machine, so that waiting becomes visible. */
const LIVE_PER_SECOND = 60;
const MANY = { 'per-minute': 1e9, 'per-hour': 1e9, 'per-day': 1e9, allowance: 1e9, credits: 1e9, concurrency: 1e9 };

/** J1, J2: items of batches against live fetches, and accepting and reading batches. */
export const BATCHES: Round = {
    name: 'batches',
    open: openWarm,
    scenarios: [
        { name: 'batch_got', run: (bench) => bareGot(bench, 64) },
        { name: 'batch_live_64', run: (bench) => liveFetches(bench, { inFlight: 64 }) },
        { name: 'batch_items', run: batchItems },
        { name: 'batch_lines', run: batchLines },
    ],
};

/** J3: the effect of a batch on live calls of its account and of another one. */
export const BESIDE_BATCHES: Round = {
    name: 'beside_batches',
    open: openWarm,
    scenarios: [{ name: 'batch_beside', run: besideBatch }],
};

/** J3: first jobs of other accounts behind a crowd. Ordering and cancelling the crowd takes most of the time. */
export const BEHIND_BATCHES: Round = {
    name: 'beside_batches',
    open: openCrowd,
    scenarios: [{ name: 'batch_behind', run: behindCrowd }],
};

/** Runs the code of live calls and of batches until it is compiled. */
async function openWarm(bench: Bench): Promise<() => Promise<void>> {
    await warm(bench);
    const items = bench.isQuick ? 1000 : 5000;
    const { batch_id: id } = await order(bench, items);
    await untilEnded(bench, id);
    await readResults(bench, id, items);
    return async () => undefined;
}

function liveFetches(bench: Bench, pace: { inFlight: number } | { perSecond: number }, key?: string): Promise<Figures> {
    const { stack } = bench;
    const service = { ...stack.production, ...(key === undefined ? {} : { apiKey: key }) };
    return fetches(bench, { service, watched: production(stack), endpoints: ['item'], pace, measuredMs: 6000 });
}

/** CPU of all processes from the creation of a batch until its last item has ended; then the speed of reading its results as ndjson. */
async function batchItems(bench: Bench): Promise<Figures> {
    const items = bench.isQuick ? 3000 : 20_000;
    const processes = Object.entries(production(bench.stack));
    const cpuNow = () => processes.map(([, watched]) => cpuSeconds(watched.pid, watched));
    const memory = watchMemory(bench);
    const before = cpuNow();
    const began = performance.now();
    const { batch_id: id } = await order(bench, items);
    const accepted = performance.now();
    const ended = await untilEnded(bench, id);
    const seconds = (performance.now() - accepted) / 1000;
    const cpu = cpuNow().map((used, place) => ((used - (before[place] ?? 0)) * 1e6) / items);
    if (ended.counts.succeeded !== items) throw new Error(`${ended.counts.succeeded} of ${items} items succeeded`);
    return {
        count: items,
        per_second: items / seconds,
        accepted_ms: accepted - began,
        cpu_us: cpu.reduce((sum, one) => sum + one, 0),
        ...Object.fromEntries(processes.map(([name], place) => [`cpu_${name}_us`, cpu[place] ?? Number.NaN])),
        results_per_second: await readResults(bench, id, items),
        ...memory(),
    };
}

/** The peak memory that API and worker use beyond their memory at the start, in MB. */
function watchMemory({ stack }: Bench): () => Figures {
    const { api, workers } = stack.production;
    const watched = [{ name: 'api', pid: api.pid }, ...workers.slice(0, 1).map(({ pid }) => ({ name: 'worker', pid }))];
    const all = watched.map(({ name, pid }) => ({ name, pid, idle: rssMb(pid), most: 0 }));
    const watch = setInterval(() => {
        for (const one of all) one.most = Math.max(one.most, rssMb(one.pid) - one.idle);
    }, 20);
    return () => {
        clearInterval(watch);
        return Object.fromEntries(all.map(({ name, most }) => [`${name}_more_mb`, most]));
    };
}

/** Time and memory of the API for a batch of the largest size. */
async function batchLines(bench: Bench): Promise<Figures> {
    const items = bench.isQuick ? 10_000 : 100_000;
    const memory = watchMemory(bench);
    const began = performance.now();
    let figures: Figures = {};
    const { batch_id: id } = await order(bench, items).finally(() => {
        figures = memory();
    });
    const ms = performance.now() - began;
    await cancel(bench, id);
    return { count: items, accepted_ms: ms, ...figures };
}

/** Measures live calls of the same account, alone and during a batch that fills the worker; then live calls of another account. */
async function besideBatch(bench: Bench): Promise<Figures> {
    const alone = await liveFetches(bench, { perSecond: LIVE_PER_SECOND });
    const { batch_id: id } = await order(bench, bench.isQuick ? 10_000 : 100_000);
    try {
        const beside = await liveFetches(bench, { perSecond: LIVE_PER_SECOND });
        const stranger = await openAccount(bench.stack, `beside-${id.slice(4).toLowerCase()}`, 'pro', MANY);
        const other = await liveFetches(bench, { perSecond: LIVE_PER_SECOND }, stranger);
        const { counts } = (await call<Batch>(bench, 'GET', `/v1/batches/${id}`)).data;
        if (counts.queued === 0) throw new Error('the batch ended before the live calls beside it');
        return {
            ...beside,
            alone_p50_ms: alone['p50_ms'] ?? Number.NaN,
            alone_p99_ms: alone['p99_ms'] ?? Number.NaN,
            other_p50_ms: other['p50_ms'] ?? Number.NaN,
            other_p99_ms: other['p99_ms'] ?? Number.NaN,
        };
    } finally {
        await cancel(bench, id);
    }
}

/** Waiting items of one account, in batches of the largest size. */
const CROWD = { batches: 10, items: 100_000 };

/** `accounts`: how many have ordered behind it. */
let crowd: { key: string; batches: string[]; accounts: number } | undefined;

async function openCrowd(bench: Bench): Promise<() => Promise<void>> {
    await openWarm(bench);
    const key = await openAccount(bench.stack, `crowd-${process.pid}`, 'pro', MANY);
    const batches: string[] = [];
    crowd = { key, batches, accounts: 0 };
    for (let batch = 0; batch < (bench.isQuick ? 1 : CROWD.batches); batch++) {
        batches.push((await order(bench, bench.isQuick ? 10_000 : CROWD.items, key)).batch_id);
    }
    return async () => {
        for (const id of batches) await cancel(bench, id, key);
        crowd = undefined;
    };
}

/** Measures the first jobs of five new accounts. */
async function behindCrowd(bench: Bench): Promise<Figures> {
    const here = crowd as NonNullable<typeof crowd>;
    const first: number[] = [];
    for (let account = 0; account < 5; account++) {
        here.accounts += 1;
        const key = await openAccount(bench.stack, `behind-${process.pid}-${here.accounts}`, 'pro', MANY);
        const { data } = await call<{ job_id: string }>(bench, 'POST', '/v1/jobs', {
            key,
            body: JSON.stringify({ site: SITE, endpoint: 'item', params: { id: 1 } }),
        });
        const job = await call<{ created_at: string; started_at: string }>(bench, 'GET', `/v1/jobs/${data.job_id}?wait=30`, { key });
        first.push(Date.parse(job.data.started_at) - Date.parse(job.data.created_at));
    }
    const left = await Promise.all(here.batches.map((id) => call<Batch>(bench, 'GET', `/v1/batches/${id}`, { key: here.key })));
    return { first_ms: Math.max(...first), still_queued: left.reduce((sum, { data }) => sum + data.counts.queued, 0) };
}

async function order(bench: Bench, items: number, key?: string): Promise<Batch> {
    const line = (at: number) => JSON.stringify({ params: { id: at + 1, q: `shoes size ${at % 240}` } });
    const body = `${Array.from({ length: items }, (_, at) => line(at)).join('\n')}\n`;
    const path = `/v1/batches?site=${SITE}&endpoint=item`;
    return (await call<Batch>(bench, 'POST', path, { ...keyed(key), body, type: 'application/x-ndjson' })).data;
}

const keyed = (key: string | undefined) => (key === undefined ? {} : { key });

async function untilEnded(bench: Bench, id: string, key?: string): Promise<Batch> {
    for (;;) {
        const { data } = await call<Batch>(bench, 'GET', `/v1/batches/${id}?wait=30`, keyed(key));
        if (data.finished_at !== null) return data;
    }
}

async function cancel(bench: Bench, id: string, key?: string): Promise<void> {
    await call(bench, 'DELETE', `/v1/batches/${id}`, keyed(key));
    await untilEnded(bench, id, key);
}

/** Reads the results and returns lines per second. */
async function readResults(bench: Bench, id: string, items: number): Promise<number> {
    const { base, apiKey } = bench.stack.production;
    const began = performance.now();
    const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/x-ndjson' };
    const response = await fetch(`${base}/v1/batches/${id}/results`, { headers });
    let lines = 0;
    for await (const chunk of response.body ?? []) for (const byte of chunk) if (byte === NEWLINE) lines++;
    if (lines !== items) throw new Error(`${lines} of ${items} lines arrived`);
    return (lines * 1000) / (performance.now() - began);
}

const NEWLINE = 10;

async function call<Data>(
    bench: Bench,
    method: string,
    path: string,
    { key, body, type = 'application/json' }: { key?: string; body?: string; type?: string } = {},
): Promise<{ data: Data }> {
    const { base, apiKey } = bench.stack.production;
    const response = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${key ?? apiKey}`, ...(body === undefined ? {} : { 'content-type': type }) },
        ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { data: Data };
}
