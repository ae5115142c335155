import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { number, render } from './render.ts';
import { type BenchResults, medianOf } from './results.ts';
import { ROUNDS } from './scenarios/all.ts';
import type { Bench } from './scenarios/scenario.ts';
import { ROOT, untilQuiet } from './stack/processes.ts';
import { openStack } from './stack/stack.ts';

/**
 * `npm run bench`: starts everything in processes of their own, measures, and writes results.json and RESULTS.md. A figure that misses
 * its goal is marked, and is no error: machines differ. With `--quick` one short repetition of each, to see that it works; nothing is
 * written.
 */
const isQuick = process.argv.includes('--quick');
const REPETITIONS = isQuick ? 1 : 3;
/** Longest wait for a quiet machine before each measurement. */
const PATIENCE_MS = isQuick ? 0 : 6000;

const results = describeRun();
const began = performance.now();
const stack = await openStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stack.close().then(() => process.exit(1)));
try {
    await measure({ stack, isQuick, median: (scenario, figure) => medianOf(results, scenario, figure) });
} finally {
    await stack.close();
}
const report = render(results);
process.stdout.write(`\n${report}\n`);
if (!isQuick) {
    writeFileSync(fileURLToPath(new URL('results.json', import.meta.url)), `${JSON.stringify(results, null, 2)}\n`);
    writeFileSync(fileURLToPath(new URL('RESULTS.md', import.meta.url)), report);
}

async function measure(bench: Bench): Promise<void> {
    for (const { scenarios, open } of ROUNDS) {
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
    const git = (...argv: string[]) => execFileSync('git', argv, { cwd: ROOT, encoding: 'utf8' }).trim();
    const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', 'api', 'bin', 'migrations', 'shared', 'workers') !== '';
    const [core] = cpus();
    return {
        commit: git('rev-parse', '--short=12', 'HEAD') + (isChanged ? ' and changes' : ''),
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
