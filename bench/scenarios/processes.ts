import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load/load.ts';
import type { LoadPlan } from '../load/plan.ts';
import type { Figures } from '../results.ts';
import { fetchBodies } from '../stack/package.ts';
import { freePort, rssMb, type Started, start, startNode, untilReady } from '../stack/processes.ts';
import { times } from './fetches.ts';
import type { Bench, Round } from './scenario.ts';

/** P9: a new API and a new worker with more than 1,000 slots; idle, with 64 fetches in flight, and with 1,000 fetches of two seconds. */
export const MEMORY: Round = {
    name: 'memory',
    scenarios: [{ name: 'memory', run: memory }],
    open: async (bench) => async () => {
        await bench.stack.replaceApi();
        await bench.stack.replaceWorkers(1);
    },
};

const WAITING = Array.from({ length: 8 }, (_, index) => `wait_${index}`);

async function memory(bench: Bench): Promise<Figures> {
    const { stack } = bench;
    await stack.replaceApi();
    await stack.replaceWorkers(1, { WORKER_CONCURRENCY: '1024' });
    await sleep(bench.isQuick ? 500 : 2000);
    const idle = memoryNow(bench);
    const loaded = await greatestMemory(bench, ['item'], { pace: { inFlight: 64 }, ...times(bench, 4000) });
    const waiting = await greatestMemory(bench, WAITING, {
        pace: { inFlight: 1000 },
        warmupMs: 1000,
        measuredMs: bench.isQuick ? 3500 : 5000,
    });
    return {
        api_idle_mb: idle.api,
        worker_idle_mb: idle.worker,
        api_loaded_mb: loaded.api,
        worker_loaded_mb: loaded.worker,
        api_waiting_mb: waiting.api,
        worker_waiting_mb: waiting.worker,
        waiting_per_second: waiting.perSecond,
    };
}

function memoryNow({ stack: { production } }: Bench): { api: number; worker: number } {
    const [worker] = production.workers;
    if (worker === undefined) throw new Error('no worker runs');
    return { api: rssMb(production.api.pid), worker: rssMb(worker.pid) };
}

/** The peak memory of samples taken ten times a second. */
async function greatestMemory(
    bench: Bench,
    endpoints: string[],
    load: Pick<LoadPlan, 'pace' | 'warmupMs' | 'measuredMs'>,
): Promise<{ api: number; worker: number; perSecond: number }> {
    const { production } = bench.stack;
    const greatest = memoryNow(bench);
    const plan = {
        url: `${production.base}/v1/fetch`,
        headers: { authorization: `Bearer ${production.apiKey}` },
        bodies: fetchBodies(...endpoints),
        ...load,
    };
    const watch = async () => {
        for (const end = performance.now() + load.measuredMs - 200; performance.now() < end; await sleep(100)) {
            const now = memoryNow(bench);
            greatest.api = Math.max(greatest.api, now.api);
            greatest.worker = Math.max(greatest.worker, now.worker);
        }
    };
    const { figures } = await runLoad(plan, {}, { whileLoaded: watch });
    return { ...greatest, perSecond: figures.perSecond };
}

/** P10: start of an API, of a worker, and of `npm start` with existing data. */
export const STARTS: Round = {
    name: 'starts',
    scenarios: [{ name: 'starts', run: starts }],
    async open() {
        startFolder = mkdtempSync(join(tmpdir(), 'routebook-bench-warm-'));
        await npmStart();
        return async () => rmSync(startFolder, { recursive: true, force: true });
    },
};

let startFolder = '';

async function starts({ stack: { settings } }: Bench): Promise<Figures> {
    const port = String(await freePort());
    const api = await timed(
        () => startNode('bin/api.ts', [], { ...settings.production, PORT: port }),
        () => untilReady(`http://127.0.0.1:${port}/readyz`),
    );
    const worker = await timed(
        () => startNode('bin/worker.ts', [], { ...settings.production, LOG_LEVEL: 'info' }),
        (started) => started.line('the worker takes jobs'),
    );
    return { api_ms: api, worker_ms: worker, npm_start_ms: await npmStart() };
}

async function npmStart(): Promise<number> {
    const settings = { PORT: String(await freePort()), DATA_DIR: startFolder, LOG_LEVEL: 'warn' };
    return timed(
        () => start('npm', ['start', '--silent'], settings),
        (started) => started.line('routebook ready on'),
    );
}

/** Milliseconds from the start until it is ready. Stops it afterwards. */
async function timed(open: () => Started, ready: (started: Started) => Promise<unknown>): Promise<number> {
    const began = performance.now();
    const started = open();
    try {
        await ready(started);
        return performance.now() - began;
    } finally {
        await started.stop();
    }
}

/** P11: the cost of each check alone. */
export const PARTS: Round = {
    name: 'parts',
    scenarios: [
        {
            name: 'parts',
            async run({ stack: { settings, production }, isQuick }) {
                const parts = startNode('bench/load/parts.ts', [production.apiKey, isQuick ? '5000' : '20000'], settings.production);
                return JSON.parse(await parts.line('limit_us')) as Figures;
            },
        },
    ],
};
