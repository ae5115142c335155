import { openPatternBudget, openPatternWork, type PatternBudget, type PatternWork } from '../json-schema/patterns.ts';

/** What judging one package may cost: publishing happens in the process that answers everybody else too. */
export interface Budget {
    /** Schemas that may still be compiled to judge defaults and examples, at 0.4 to 12 ms each. Simple ones are judged without. */
    compilations: number;
    /** Schemas that were already paid for, by their text. */
    paid: Set<string>;
    patterns: PatternBudget;
    /** For holding defaults and examples against patterns. */
    work: PatternWork;
}

/** Past it, what is left is judged when the endpoint is called. */
const COMPILATIONS = 40;

/** The whole budget of one package. */
export function openBudget(): Budget {
    return { compilations: COMPILATIONS, paid: new Set(), patterns: openPatternBudget(), work: openPatternWork() };
}
