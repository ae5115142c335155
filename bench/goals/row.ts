import type { BenchResults } from '../results.ts';

/** A row of the table of goals: a figure and its bounds. */
export interface GoalRow {
    id: string;
    shows: string;
    unit: '' | '/s' | 'ms' | 'µs' | 'MB';
    /** The figure in each repetition. */
    values: (results: BenchResults) => number[];
    /** Absent if the row is only for information. */
    goal?: Bound;
    floor?: Bound;
    /** Why a missed goal does not count in this run. */
    excuse?: (results: BenchResults) => string | undefined;
}

export type Bound = { atLeast: number } | { atMost: number };

type Verdict = 'goal met' | 'above floor' | 'BELOW FLOOR' | 'below goal' | 'for information' | 'not measured';

/** Compares a figure with its goal and floor. */
export function verdictOf({ goal, floor }: Pick<GoalRow, 'goal' | 'floor'>, value: number): Verdict {
    if (Number.isNaN(value)) return 'not measured';
    if (goal === undefined) return 'for information';
    if (holds(goal, value)) return 'goal met';
    if (floor === undefined) return 'below goal';
    return holds(floor, value) ? 'above floor' : 'BELOW FLOOR';
}

function holds(bound: Bound, value: number): boolean {
    return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}
