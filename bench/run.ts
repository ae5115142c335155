import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { commitNow } from './commit.ts';
import { readLongRuns } from './long-runs.ts';
import { printHelp, readOptions } from './options.ts';
import { number, render } from './render.ts';
import { type BenchResults, type Figures, medianOf, type RoundRun, STOLEN_CORES, STOLEN_TRIES, withRounds } from './results.ts';
import { ROUNDS } from './scenarios/all.ts';
import type { Bench, Round, Scenario } from './scenarios/scenario.ts';
import { readSoak } from './soak/results.ts';
import { interrupt, stolenSeconds, untilQuiet } from './stack/processes.ts';
import { openStack } from './stack/stack.ts';
import { countFromNow, countStatements, formatStatements, statementsSince } from './stack/statements.ts';

const options = readOptions(ROUNDS);
if (options === 'help') {
    printHelp(ROUNDS);
    process.exit();
}
const { isQuick, isAtOnce, printsSql, rounds, only, postgres } = options;
const REPETITIONS = isQuick ? 1 : 3;
const RESULTS = fileURLToPath(new URL('results.json', import.meta.url));
/** Longest wait for a quiet machine before each measurement. */
const PATIENCE_MS = isQuick || isAtOnce ? 0 : 60_000;
const TRIES = isQuick ? 1 : STOLEN_TRIES;
const isPublished = !isQuick && only === undefined && postgres === undefined && !printsSql;

const results: BenchResults = { mode: isQuick ? 'quick' : 'full', rounds: {}, scenarios: {} };
const began = performance.now();
/** npm forwards a signal that the terminal has sent to all processes. A second signal within this time is that copy. */
const ECHO_MS = 1000;
/** The exit code that shells expect after Ctrl-C. */
const INTERRUPTED = 130;
let interruptedAt: number | undefined;
const interrupted = Promise.withResolvers<never>();
interrupted.promise.catch(() => undefined);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
const stack = await openStack({ postgres, withStatements: printsSql });
try {
    await measure({
        stack,
        isQuick,
        median: (scenario, figure) => medianOf(results, scenario, figure),
        ...(printsSql && { onMeasured: () => countFromNow(stack.postgres.url) }),
    });
} finally {
    await stack.close();
    if (interruptedAt !== undefined) process.exit(INTERRUPTED);
}
const published =
    rounds === undefined
        ? results
        : withRounds(readResults(), results, new Set(ROUNDS.flatMap(({ scenarios }) => scenarios.map(({ name }) => name))));
const report = render(published, readLongRuns(), readSoak());
if (only === undefined) process.stdout.write(`\n${report}\n`);
if (isPublished) {
    writeFileSync(RESULTS, `${JSON.stringify(published, null, 2)}\n`);
    writeFileSync(fileURLToPath(new URL('RESULTS.md', import.meta.url)), report);
}

function readResults(): BenchResults {
    return JSON.parse(readFileSync(RESULTS, 'utf8')) as BenchResults;
}

/** The first signal closes everything in order. Another one more than a second later ends the bench and its processes at once. */
function stop(): void {
    if (interruptedAt !== undefined && performance.now() - interruptedAt > ECHO_MS) process.exit(INTERRUPTED);
    if (interruptedAt !== undefined) return;
    interruptedAt = performance.now();
    interrupt();
    interrupted.reject(new Error('interrupted: closing everything; once more ends it at once'));
}

/** Prints the statements. `fetches` is undefined for rounds with their own server and for scenarios without fetches. */
async function printSql(url: string, fetches: number | undefined): Promise<void> {
    const statements = await statementsSince(url);
    if (fetches !== undefined) process.stdout.write(`${formatStatements(statements, fetches)}\n`);
}

function wanted(): readonly Round[] {
    if (rounds !== undefined) return ROUNDS.filter(({ name }) => rounds.has(name));
    if (only === undefined) return ROUNDS;
    const parts = ROUNDS.map((round) => ({ ...round, scenarios: round.scenarios.filter(({ name }) => only.has(name)) }));
    return parts.filter(({ scenarios }) => scenarios.length > 0);
}

async function measure(bench: Bench): Promise<void> {
    for (const { name, scenarios, open } of wanted()) {
        results.rounds[name] = { commit: commitNow(), date: new Date().toISOString(), machine: describeMachine() };
        const close = await open?.(bench);
        try {
            for (let repetition = 1; repetition <= REPETITIONS; repetition++) {
                for (const scenario of scenarios) {
                    const figures = await Promise.race([runUndisturbed(scenario, bench), interrupted.promise]);
                    results.scenarios[scenario.name] = [...(results.scenarios[scenario.name] ?? []), figures];
                    const shown = Object.entries(figures).map(([name, value]) => `${name} ${number(value)}`);
                    const at = Math.round((performance.now() - began) / 1000);
                    process.stdout.write(`${at} s  ${scenario.name} ${repetition}/${REPETITIONS}: ${shown.join(', ')}\n`);
                }
            }
        } finally {
            await close?.();
        }
    }
}

/** Repeats a disturbed measurement, and returns the attempt with the least stolen CPU time. Its figures do not influence the choice. */
async function runUndisturbed(scenario: Scenario, bench: Bench): Promise<Figures> {
    let best: Figures | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
        await untilQuiet(PATIENCE_MS);
        const before = { at: performance.now(), stolen: stolenSeconds() };
        if (printsSql) await countStatements(stack.postgres.url);
        const figures = await scenario.run(bench);
        if (printsSql) await printSql(stack.postgres.url, figures['count']);
        const stolen = (stolenSeconds() - before.stolen) / ((performance.now() - before.at) / 1000);
        if (stolen < (best?.['stolen_cores'] ?? Number.POSITIVE_INFINITY)) best = { ...figures, stolen_cores: stolen };
        if (stolen <= STOLEN_CORES) break;
    }
    return best as Figures;
}

function describeMachine(): RoundRun['machine'] {
    const [core] = cpus();
    return {
        cores: cpus().length,
        cpu: core?.model.trim() ?? 'unknown',
        memory_gb: Math.round(totalmem() / 2 ** 30),
        node: process.version,
        os: `${type()} ${release()}`,
    };
}
