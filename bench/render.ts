import { type Bound, type GoalRow, verdictOf } from './goals/row.ts';
import { GOALS } from './goals.ts';
import { type DatedRun, longRunCells } from './long-runs.ts';
import { type BenchResults, type Figures, median, medianOf, type RoundRun, STOLEN_CORES, STOLEN_TRIES } from './results.ts';
import { type SoakResults, soakCells, soakText } from './soak/results.ts';
import { STRANGER_HEAD, strangerCells, strangerScenarios } from './strangers.ts';

/** Renders `bench/RESULTS.md` from the results of the bench, the long runs and the soak. */
export function render(results: BenchResults, longRuns: readonly DatedRun[], soak: SoakResults | undefined): string {
    const others = (scenario: string) => number(medianOf(results, scenario, 'others_cores'));
    return `# What the bench measured

Made by \`npm run bench\` from \`bench/results.json\`, which has every repetition. Figures are medians; the range is that of the repetitions.

${table(
    ['round', 'commit', 'date (UTC)', 'cores', 'processor', 'memory', 'system', 'Node.js'],
    Object.entries(results.rounds).map(([name, run]) => [name, ...roundCells(run)]),
)}

Compared scenarios were measured in one round, alternating. Everything runs on one machine: load generator, API, worker, Redis
(append-only file, synced every second), PostgreSQL (fsync and synchronous_commit on) and the upstream (1 KB of JSON, keep-alive). Other
processes used ${others('got_64')} cores (median) while bare got was measured, and ${others('fetch_64')} while fetches were.
${stolenText(results)}

## Goals

${table(
    ['', 'what', 'measured', 'range', 'goal', 'floor', 'verdict'],
    GOALS.map((row) => goalCells(row, results)),
)}

## Side by side

${table(
    ['', 'calls/s', 'p50 ms', 'p99 ms', 'failed of 1,000', 'CPU µs a call', 'of it'],
    COMPARED.map(([name, title]) => comparedCells(results, name, title)),
)}

CPU is that of the named processes, for bare got that of got. The upstream and the load generator are never counted.
[PROFILE.md](PROFILE.md) shows what uses it and what was tried.
${strangersPart(results)}${longRuns.length === 0 ? '' : longRunsPart(longRuns)}${soak === undefined ? '' : soakPart(soak)}`;
}

function strangersPart(results: BenchResults): string {
    if (strangerScenarios(results).length === 0) return '';
    return `
## With strangers (X1)

A good site at 60/s: alone, with the strangers of a row of the tables in test/hostile, and alone again.

${table(STRANGER_HEAD, strangerCells(results, number))}
`;
}

/** The CPU time that the hypervisor took, if it was measured. */
function stolenText(results: BenchResults): string {
    const stolen = Object.values(results.scenarios)
        .flat()
        .flatMap(({ stolen_cores: cores }) => cores ?? []);
    if (stolen.length === 0) return '';
    const more = stolen.filter((cores) => cores > STOLEN_CORES).length;
    return `
If the hypervisor took more than ${STOLEN_CORES} cores during a measurement, it was repeated, up to ${STOLEN_TRIES} times in all, and the one with the least
loss was kept. Of ${stolen.length} measurements, ${more} still lost more, at worst ${number(Math.max(...stolen))} cores (\`stolen_cores\` in results.json).
`;
}

function roundCells({ commit, date, machine }: RoundRun): string[] {
    const { cores, cpu, memory_gb: memory, os, node } = machine;
    return [commit, date.slice(0, 16).replace('T', ' '), String(cores), cpu, `${memory} GB`, os, node];
}

function soakPart(soak: SoakResults): string {
    return `
## An hour of even load (L11)

${soakText(soak)}

${table(['what', 'median', 'growth in 24 h', '95 % bounds', ''], soakCells(soak))}
`;
}

function longRunsPart(runs: readonly DatedRun[]): string {
    return `
## Answers and money under faults, and other long runs

Made by \`npm run test:long\` and \`npm run test:real\` from \`bench/long-runs.json\`, which has the last run of each spec. A goal holds if each of its tests holds.

${table(['row', 'what', '', 's', 'commit', 'date (UTC)'], longRunCells(runs))}
`;
}

const COMPARED: readonly (readonly [scenario: string, title: string])[] = [
    ['got_64', 'bare got, 64 in flight'],
    ['hapi_64', 'bare hapi route with Joi and body, 64 in flight'],
    ['fetch_64', 'fetch, 64 in flight'],
    ['select_64', 'fetch with select and response schema, 64 in flight'],
    ['embedded_64', 'fetch in the embedded topology, 64 in flight'],
    ['got_1', 'bare got, one at a time'],
    ['fetch_1', 'fetch, one at a time'],
    ['embedded_1', 'fetch in the embedded topology, one at a time'],
    ['slow_128', 'fetch, 50 ms upstream, 128 in flight'],
    ['steady_fast', 'fetch at 70 % of the highest rate'],
    ['steady_slow', 'fetch at 70 %, 50 ms upstream'],
    ['workers_1', '1 worker of 16 slots, 50 ms upstream'],
    ['workers_2', '2 workers of 16 slots, 50 ms upstream'],
    ['workers_4', '4 workers of 16 slots, 50 ms upstream'],
];

function goalCells(row: GoalRow, results: BenchResults): string[] {
    const values = row.values(results).filter((value) => !Number.isNaN(value));
    const value = median(values);
    const verdict = verdictOf(row, value);
    const excuse = verdict === 'below goal' || verdict === 'BELOW FLOOR' ? row.excuse?.(results) : undefined;
    return [
        row.id,
        row.shows,
        withUnit(value, row.unit),
        values.length === 0 ? '–' : `${number(Math.min(...values))} – ${number(Math.max(...values))}`,
        bound(row.goal, row.unit),
        bound(row.floor, row.unit),
        excuse === undefined ? verdict : `${verdict}, but ${excuse}`,
    ];
}

function comparedCells(results: BenchResults, name: string, title: string): string[] {
    const figures = (results.scenarios[name] ?? []) as Figures[];
    const of = (figure: string) => medianOf(results, name, figure);
    const parts = Object.keys(figures[0] ?? {})
        .filter((figure) => figure.startsWith('cpu_') && figure !== 'cpu_us')
        .map((figure) => `${figure.slice('cpu_'.length, -'_us'.length)} ${number(of(figure))}`);
    return [
        title,
        ...['per_second', 'p50_ms', 'p99_ms', 'failed_per_1000', 'cpu_us'].map((figure) => number(of(figure))),
        parts.join(', '),
    ];
}

function bound(limit: Bound | undefined, unit: string): string {
    if (limit === undefined) return '–';
    return 'atLeast' in limit ? `≥ ${withUnit(limit.atLeast, unit)}` : `≤ ${withUnit(limit.atMost, unit)}`;
}

function withUnit(value: number, unit: string): string {
    return unit === '/s' ? `${number(value)}/s` : `${number(value)} ${unit}`.trimEnd();
}

/** Formats a number with three significant digits. */
export function number(value: number): string {
    if (!Number.isFinite(value)) return '–';
    if (value === 0) return '0';
    if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
    return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
    return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
