/** The latest results; stored as `bench/results.json`. Names of figures end with their unit. */
export interface BenchResults {
    mode: 'full' | 'quick';
    /** When each round ran, of which commit and on which machine. Scenarios that are compared with each other always come from one run. */
    rounds: Record<string, RoundRun>;
    /** The figures of each scenario by repetition, in the order of the run. */
    scenarios: Record<string, Figures[]>;
}

export interface RoundRun {
    commit: string;
    /** ISO 8601. */
    date: string;
    machine: { cores: number; cpu: string; memory_gb: number; node: string; os: string };
}

export type Figures = Record<string, number>;

/** A measurement is repeated if the hypervisor meanwhile gave more than this many cores to others. STOLEN_TRIES is the most attempts. */
export const STOLEN_CORES = 0.05;
export const STOLEN_TRIES = 3;

/** Replaces the results of the rounds that were measured again. Of the others it keeps the scenarios that still exist. */
export function withRounds(before: BenchResults, fresh: BenchResults, scenarios: ReadonlySet<string>): BenchResults {
    const kept = Object.entries(before.scenarios).filter(([name]) => scenarios.has(name));
    return {
        ...fresh,
        rounds: { ...before.rounds, ...fresh.rounds },
        scenarios: { ...Object.fromEntries(kept), ...fresh.scenarios },
    };
}

/** The median, which is the mean of the two middle values if their number is even; NaN if there are none. */
export function median(values: readonly number[]): number {
    const sorted = values.toSorted((one, other) => one - other);
    const middle = Math.floor(sorted.length / 2);
    const upper = sorted[middle] ?? Number.NaN;
    return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The values of a figure in all repetitions of a scenario; empty if it was not run. */
export function repetitionsOf(results: BenchResults, scenario: string, figure: string): number[] {
    return (results.scenarios[scenario] ?? []).map((figures) => figures[figure] ?? Number.NaN);
}

/** The median of a figure over all repetitions of a scenario; NaN if it was not run. */
export function medianOf(results: BenchResults, scenario: string, figure: string): number {
    return median(repetitionsOf(results, scenario, figure));
}
