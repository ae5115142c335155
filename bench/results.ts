/** What was measured last; `bench/results.json` is one of these. Names of figures end in their unit. */
export interface BenchResults {
    mode: 'full' | 'quick';
    /** When each round ran, over what and where: scenarios that are compared with each other always come from one run. */
    rounds: Record<string, RoundRun>;
    /** What each scenario measured, repetition by repetition, in the order of the run. */
    scenarios: Record<string, Figures[]>;
}

export interface RoundRun {
    commit: string;
    /** ISO 8601. */
    date: string;
    machine: { cores: number; cpu: string; memory_gb: number; node: string; os: string };
}

export type Figures = Record<string, number>;

/** A measurement is made again where the hypervisor gave more than so many cores to others meanwhile, and so often at most. */
export const STOLEN_CORES = 0.05;
export const STOLEN_TRIES = 3;

/** Results with some rounds measured again; of the others the scenarios stay that there still are. */
export function withRounds(before: BenchResults, fresh: BenchResults, scenarios: ReadonlySet<string>): BenchResults {
    const kept = Object.entries(before.scenarios).filter(([name]) => scenarios.has(name));
    return {
        ...fresh,
        rounds: { ...before.rounds, ...fresh.rounds },
        scenarios: { ...Object.fromEntries(kept), ...fresh.scenarios },
    };
}

/** The middle of some values, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
    const sorted = values.toSorted((one, other) => one - other);
    const middle = Math.floor(sorted.length / 2);
    const upper = sorted[middle] ?? Number.NaN;
    return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** A figure in every repetition of a scenario; empty if it was not run. */
export function repetitionsOf(results: BenchResults, scenario: string, figure: string): number[] {
    return (results.scenarios[scenario] ?? []).map((figures) => figures[figure] ?? Number.NaN);
}

/** The median of a figure over the repetitions of a scenario; NaN where it was not run. */
export function medianOf(results: BenchResults, scenario: string, figure: string): number {
    return median(repetitionsOf(results, scenario, figure));
}
