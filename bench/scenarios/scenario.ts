import type { Figures } from '../results.ts';
import type { Stack } from '../stack/stack.ts';

/** The environment of a scenario. */
export interface Bench {
    stack: Stack;
    isQuick: boolean;
    /** The median of a figure measured earlier in this run. */
    median(scenario: string, figure: string): number;
    /** Called after the warm-up of a load, when measuring starts. */
    onMeasured?: () => Promise<void>;
}

export interface Scenario {
    name: string;
    /** Runs one repetition. */
    run(bench: Bench): Promise<Figures>;
}

/** Scenarios with alternating repetitions, so that drift of the machine affects all of them. */
export interface Round {
    /** Selected by `--rounds`. Rounds that use each other's figures share a name. */
    name: string;
    scenarios: readonly Scenario[];
    /** Prepares the stack for these scenarios; the returned function restores it. */
    open?(bench: Bench): Promise<() => Promise<void>>;
}
