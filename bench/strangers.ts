import type { GoalRow } from './goals.ts';
import { type BenchResults, type Figures, median, medianOf, repetitionsOf } from './results.ts';

const PREFIX = 'beside_stranger_';

/** The scenario of a row of the tables of strangers. */
export function strangerScenario(row: string): string {
    return `${PREFIX}${row.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}`;
}

/** What that scenario is called where people read it. */
export function strangerTitle(scenario: string): string {
    return scenario.slice(PREFIX.length).replaceAll('_', ' ');
}

/** The scenarios of strangers that were measured. */
export function strangerScenarios({ scenarios }: BenchResults): string[] {
    return Object.keys(scenarios).filter((name) => name.startsWith(PREFIX));
}

type Values = GoalRow['values'];

/** In each repetition, something made of the figures of all rows. */
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

/** The good site's p99 beside a row, against alone, in each repetition. */
export function besideAlone(results: BenchResults, scenario: string): number[] {
    const alone = repetitionsOf(results, scenario, 'alone_p99_ms');
    return repetitionsOf(results, scenario, 'p99_ms').map((p99, place) => p99 / (alone[place] ?? Number.NaN));
}

/** Those of the row whose median is the worst. */
const worstBesideAlone: Values = (results) => {
    const [worst = []] = strangerScenarios(results)
        .map((name) => besideAlone(results, name))
        .toSorted((one, other) => median(other) - median(one));
    return worst;
};

/** X1. An API's turns are milliseconds of its main thread's CPU in one turn of its event loop. */
export const STRANGER_GOALS: readonly GoalRow[] = [
    { id: 'X1', shows: 'kinds of strangers beside a good site', unit: '', values: overAll((rows) => rows.length), goal: { atLeast: 20 } },
    {
        id: 'X1',
        shows: "beside all of them: turns of an API's event loop that took more than 25 ms, of 1,000",
        unit: '',
        values: overAll((rows) => (1000 * sum('turns_over_25_ms')(rows)) / sum('turns')(rows)),
        goal: { atMost: 1 },
    },
    { id: 'X1', shows: 'the longest of these turns', unit: 'ms', values: overAll(most('turn_most_ms')), goal: { atMost: 100 } },
    {
        id: 'X1',
        shows: 'memory that the worst of them add to a worker and its children, beyond what as many plain bytes take',
        unit: 'MB',
        values: overAll(most('worker_added_mb')),
        goal: { atMost: 64 },
    },
    {
        id: 'X1',
        shows: 'p99 of a good site at 60/s beside the worst of them, against nothing else',
        unit: '',
        values: worstBesideAlone,
        goal: { atMost: 1.5 },
    },
    {
        id: 'X1',
        shows: 'the same beside all of them, at the median of the kinds',
        unit: '',
        values: overAll((rows) => median(rows.map(({ p99_ms = Number.NaN, alone_p99_ms = Number.NaN }) => p99_ms / alone_p99_ms))),
    },
    { id: 'X1', shows: "the good site's calls that failed", unit: '', values: overAll(sum('failed')), goal: { atMost: 0 } },
];

/** A line for each row of the strangers, the worst first. */
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
    'p99 beside ÷ alone',
    'alone, ms',
    'beside, ms',
    'failed',
    "an API's turns, 99.9th, ms CPU",
    'longest, ms',
    "a worker's longest, ms",
    'worker and children, MB more',
    'beside as many plain bytes, ms',
    'cores busy',
] as const;
