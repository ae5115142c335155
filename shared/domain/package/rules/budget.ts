import { MAX_PACKAGE_NODES } from '../../json/schema/count-nodes.ts';
import { createPatternBudget, createPatternWork, type PatternBudget, type PatternWork } from '../../json/schema/patterns.ts';

/** The budget for checking one package. */
export interface Budget {
    patterns: PatternBudget;
    /** For validating defaults and examples. */
    work: PatternWork;
    /** Schemas that the package may still have, with references resolved. */
    nodes: number;
}

/** Creates the budget of one package. */
export function createBudget(): Budget {
    return { patterns: createPatternBudget(), work: createPatternWork(), nodes: MAX_PACKAGE_NODES };
}
