import type { Figures } from '../results.ts';
import type { Stack } from '../stack/stack.ts';

/** What a scenario works with. */
export interface Bench {
    stack: Stack;
    isQuick: boolean;
    /** Of what was measured so far in this run. */
    median(scenario: string, figure: string): number;
    /** Called when a load of fetches is warm and its measured time begins. */
    onMeasured?: () => Promise<void>;
}

export interface Scenario {
    name: string;
    /** One repetition. */
    run(bench: Bench): Promise<Figures>;
}

/** Scenarios whose repetitions take turns: what disturbs the machine for a while disturbs all of them. */
export interface Round {
    /** For `--rounds`. Those that look at each other's figures have one name. */
    name: string;
    scenarios: readonly Scenario[];
    /** Puts the stack into the state that these scenarios want; the answer puts it back. */
    open?(bench: Bench): Promise<() => Promise<void>>;
}
