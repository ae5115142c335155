import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitNow } from './commit.ts';
import { runLoad } from './load/load.ts';
import type { LoadPlan } from './load/plan.ts';
import { readLongRuns } from './long-runs.ts';
import { render } from './render.ts';
import type { BenchResults } from './results.ts';
import { openInspector } from './soak/inspect.ts';
import { look } from './soak/look.ts';
import { type SoakResults, soakCells, soakText } from './soak/results.ts';
import { fetchBodies } from './stack/package.ts';
import { freePort, type Started } from './stack/processes.ts';
import { openStack, type Stack } from './stack/stack.ts';

/**
 * `npm run soak [-- minutes]`: a steady load on the production topology for an hour, and the growth of memory and other resources. Results
 * of an hour or more are stored in soak.json and RESULTS.md. A shorter run only shows that the command works.
 */
const minutes = Number(process.argv[2] ?? 60);
if (!(minutes > 0)) throw new Error('say for how many minutes');
const KEPT_FROM_MINUTES = 60;
const LOAD = 0.6;
const EVERY_MS = 30_000;
/** Milliseconds without load around each look, so that finished calls have freed their resources. */
const PAUSE_MS = 2000;
/** The least number of looks, so a short run looks more often. */
const MIN_LOOKS = 8;

const everyMs = Math.min(EVERY_MS, (minutes * 60_000) / MIN_LOOKS);
const stack = await openStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stack.close().then(() => process.exit(1)));
try {
    const results = await soak();
    process.stdout.write(
        `\n${soakText(results)}\n\n${soakCells(results)
            .map((cells) => cells.join('  '))
            .join('\n')}\n`,
    );
    if (minutes >= KEPT_FROM_MINUTES) keep(results);
} finally {
    await stack.close();
}

async function soak(): Promise<SoakResults> {
    await stack.embedded.all.stop();
    const [apiPort, workerPort] = [await freePort(), await freePort()];
    const inspect = (port: number) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}` });
    await stack.replaceApi(inspect(apiPort));
    await stack.replaceWorkers(1, inspect(workerPort));
    const { api, workers } = stack.production;
    const processes = [
        { name: 'API', pid: api.pid, inspected: await openInspector(apiPort) },
        { name: 'worker', pid: workerOf(workers).pid, inspected: await openInspector(workerPort) },
    ];
    await load(stack, { inFlight: 64 }, minutes < 5 ? 2000 : 15_000);
    const greatest = (await load(stack, { inFlight: 64 }, minutes < 5 ? 2000 : 10_000)).perSecond;
    const results: SoakResults = {
        commit: commitNow(),
        date: new Date().toISOString(),
        minutes,
        greatestPerSecond: greatest,
        perSecond: LOAD * greatest,
        calls: 0,
        failed: 0,
        watched: {},
    };
    const began = performance.now();
    while (performance.now() - began < minutes * 60_000) {
        const { count, failed } = await load(stack, { perSecond: results.perSecond }, everyMs - PAUSE_MS);
        results.calls += count;
        results.failed += failed;
        await sleep(PAUSE_MS / 2);
        const hours = (performance.now() - began) / 3_600_000;
        for (const { name, what, unit, value } of await look(processes, stack.redis, stack.settings.production['DATABASE_URL'] ?? '')) {
            const kept = results.watched[name] ?? { what, unit, hours: [], values: [] };
            results.watched[name] = { ...kept, hours: [...kept.hours, hours], values: [...kept.values, value] };
        }
        process.stdout.write(`${(hours * 60).toFixed(1)} min  ${latest(results)}\n`);
    }
    for (const { inspected } of processes) inspected.close();
    return results;
}

function latest({ watched, calls, failed }: SoakResults): string {
    const shown = Object.entries(watched).map(([name, { values }]) => `${name} ${values.at(-1)?.toFixed(1)}`);
    return [`${calls} calls`, `${failed} failed`, ...shown].join(', ');
}

function workerOf([worker]: Started[]): Started {
    if (worker === undefined) throw new Error('no worker runs');
    return worker;
}

/** Loads two endpoints: the worker itself parses the answers of one, its threads those of the other. */
async function load({ production }: Stack, pace: LoadPlan['pace'], measuredMs: number) {
    const plan = {
        url: `${production.base}/v1/fetch`,
        headers: { authorization: `Bearer ${production.apiKey}` },
        bodies: fetchBodies('item', 'products'),
        pace,
        warmupMs: 0,
        measuredMs,
    };
    return (await runLoad(plan, {})).figures;
}

function keep(results: SoakResults): void {
    const published = JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8')) as BenchResults;
    writeFileSync(new URL('soak.json', import.meta.url), `${JSON.stringify(results)}\n`);
    writeFileSync(new URL('RESULTS.md', import.meta.url), render(published, readLongRuns(), results));
}
