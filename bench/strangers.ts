import type { GoalRow } from './goals/row.ts';
import { type BenchResults, type Figures, median, medianOf, repetitionsOf } from './results.ts';

const PREFIX = 'beside_stranger_';

/** The scenario of a row of the tables of strangers. */
export function strangerScenario(row: string): string {
    return `${PREFIX}${row.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}`;
}

/** The readable name of that scenario. */
function strangerTitle(scenario: string): string {
    return scenario.slice(PREFIX.length).replaceAll('_', ' ');
}

/** The measured scenarios of strangers. */
export function strangerScenarios({ scenarios }: BenchResults): string[] {
    return Object.keys(scenarios).filter((name) => name.startsWith(PREFIX));
}

type Values = GoalRow['values'];

/** Combines the figures of all rows in each repetition. */
const overAll =
    (make: (rows: readonly Figures[]) => number): Values =>
    (results) => {
        const rows = strangerScenarios(results).map((name) => results.scenarios[name] ?? []);
        const repetitions = Math.min(...rows.map(({ length }) => length));
        if (!Number.isFinite(repetitions)) return [];
        return Array.from({ length: repetitions }, (_, place) => make(rows.map((row) => row[place] ?? {})));
    };

const sum = (figure: string) => (rows: readonly Figures[]) => rows.reduce((all, row) => all + (row[figure] ?? Number.NaN), 0);
const most = (figure: string) => (rows: readonly Figures[]) => Math.max(...rows.map((row) => row[figure] ?? Number.NaN));

/** The good site's p99 beside a row of strangers, divided by its p99 alone, in each repetition. */
function besideAlone(results: BenchResults, scenario: string): number[] {
    const alone = repetitionsOf(results, scenario, 'alone_p99_ms');
    return repetitionsOf(results, scenario, 'p99_ms').map((p99, place) => p99 / (alone[place] ?? Number.NaN));
}

/** The ratios of the row with the worst median. */
const worstBesideAlone: Values = (results) => {
    const [worst = []] = strangerScenarios(results)
        .map((name) => besideAlone(results, name))
        .toSorted((one, other) => median(other) - median(one));
    return worst;
};

/** X1. The turns of an API are the CPU milliseconds of its main thread in one turn of its event loop. */
export const STRANGER_GOALS: readonly GoalRow[] = [
    {
        id: 'X1',
        shows: 'kinds of strangers measured with a good site',
        unit: '',
        values: overAll((rows) => rows.length),
        goal: { atLeast: 20 },
    },
    {
        id: 'X1',
        shows: "with all of them: turns of an API's event loop above 25 ms, per 1,000",
        unit: '',
        values: overAll((rows) => (1000 * sum('turns_over_25_ms')(rows)) / sum('turns')(rows)),
        goal: { atMost: 1 },
    },
    { id: 'X1', shows: 'the longest of these turns', unit: 'ms', values: overAll(most('turn_most_ms')), goal: { atMost: 100 } },
    {
        id: 'X1',
        shows: 'memory that the worst of them add to a worker and its children, minus that of as many plain bytes',
        unit: 'MB',
        values: overAll(most('worker_added_mb')),
        goal: { atMost: 64 },
    },
    {
        id: 'X1',
        shows: 'p99 of a good site at 60/s with the worst of them, relative to undisturbed',
        unit: '',
        values: worstBesideAlone,
        goal: { atMost: 1.5 },
    },
    {
        id: 'X1',
        shows: 'the same, median of all kinds',
        unit: '',
        values: overAll((rows) => median(rows.map(({ p99_ms = Number.NaN, alone_p99_ms = Number.NaN }) => p99_ms / alone_p99_ms))),
    },
    { id: 'X1', shows: 'failed calls of the good site', unit: '', values: overAll(sum('failed')), goal: { atMost: 0 } },
];

/** One line for each row of the strangers, worst first. */
export function strangerCells(results: BenchResults, number: (value: number) => string): string[][] {
    const of = (name: string, figure: string) => number(medianOf(results, name, figure));
    return strangerScenarios(results)
        .map((name) => ({ name, ratio: median(besideAlone(results, name)) }))
        .toSorted((one, other) => other.ratio - one.ratio)
        .map(({ name, ratio }) => [
            strangerTitle(name),
            number(ratio),
            of(name, 'alone_p99_ms'),
            of(name, 'p99_ms'),
            of(name, 'failed'),
            of(name, 'turn_p999_ms'),
            of(name, 'turn_most_ms'),
            of(name, 'worker_turn_most_ms'),
            of(name, 'worker_added_mb'),
            of(name, 'plain_p99_ms'),
            of(name, 'cores_busy'),
        ]);
}

/** The head of that table. */
export const STRANGER_HEAD = [
    'strangers',
    'p99 with ÷ alone',
    'alone, ms',
    'with them, ms',
    'failed',
    "an API's turns, 99.9th, ms CPU",
    'longest, ms',
    "a worker's longest, ms",
    'worker and children, MB added',
    'with as many plain bytes, ms',
    'cores busy',
] as const;
