import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { commitNow } from './commit.ts';
import { readLongRuns } from './long-runs.ts';
import { number, render } from './render.ts';
import { type BenchResults, medianOf } from './results.ts';
import { ROUNDS } from './scenarios/all.ts';
import type { Bench, Round } from './scenarios/scenario.ts';
import { readSoak } from './soak/results.ts';
import { untilQuiet } from './stack/processes.ts';
import { openStack } from './stack/stack.ts';

/**
 * `npm run bench`: starts everything in processes of their own, measures, and writes results.json and RESULTS.md. A figure that misses
 * its goal is marked, and is no error: machines differ. With `--quick` one short repetition of each, to see that it works, and with
 * `--only name,name` no other scenarios than these; nothing is written then. `--tenth` makes the past of `growth` ten times shorter.
 */
const isQuick = process.argv.includes('--quick');
const REPETITIONS = isQuick ? 1 : 3;
/** Longest wait for a quiet machine before each measurement. */
const PATIENCE_MS = isQuick ? 0 : 6000;

const only = wanted();

const results = describeRun();
const began = performance.now();
const stack = await openStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stack.close().then(() => process.exit(1)));
try {
    await measure({ stack, isQuick, median: (scenario, figure) => medianOf(results, scenario, figure) });
} finally {
    await stack.close();
}
const report = render(results, readLongRuns(), readSoak());
if (only === undefined) process.stdout.write(`\n${report}\n`);
if (!isQuick && only === undefined) {
    writeFileSync(fileURLToPath(new URL('results.json', import.meta.url)), `${JSON.stringify(results, null, 2)}\n`);
    writeFileSync(fileURLToPath(new URL('RESULTS.md', import.meta.url)), report);
}

/** The names after `--only`. */
function wanted(): ReadonlySet<string> | undefined {
    const place = process.argv.indexOf('--only');
    if (place < 0) return undefined;
    const names = new Set((process.argv[place + 1] ?? '').split(','));
    const known = ROUNDS.flatMap(({ scenarios }) => scenarios.map(({ name }) => name));
    const unknown = [...names].filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}; known are ${known.join(', ')}`);
    return names;
}

function roundsOf(names: ReadonlySet<string> | undefined): readonly Round[] {
    if (names === undefined) return ROUNDS;
    const rounds = ROUNDS.map((round) => ({ ...round, scenarios: round.scenarios.filter(({ name }) => names.has(name)) }));
    return rounds.filter(({ scenarios }) => scenarios.length > 0);
}

async function measure(bench: Bench): Promise<void> {
    for (const { scenarios, open } of roundsOf(only)) {
        const close = await open?.(bench);
        for (let repetition = 1; repetition <= REPETITIONS; repetition++) {
            for (const scenario of scenarios) {
                await untilQuiet(PATIENCE_MS);
                const figures = await scenario.run(bench);
                results.scenarios[scenario.name] = [...(results.scenarios[scenario.name] ?? []), figures];
                const shown = Object.entries(figures).map(([name, value]) => `${name} ${number(value)}`);
                const at = Math.round((performance.now() - began) / 1000);
                process.stdout.write(`${at} s  ${scenario.name} ${repetition}/${REPETITIONS}: ${shown.join(', ')}\n`);
            }
        }
        await close?.();
    }
}

function describeRun(): BenchResults {
    const [core] = cpus();
    return {
        commit: commitNow(),
        date: new Date().toISOString(),
        mode: isQuick ? 'quick' : 'full',
        machine: {
            cores: cpus().length,
            cpu: core?.model.trim() ?? 'unknown',
            memory_gb: Math.round(totalmem() / 2 ** 30),
            node: process.version,
            os: `${type()} ${release()}`,
        },
        scenarios: {},
    };
}
