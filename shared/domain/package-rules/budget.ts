import { MAX_PACKAGE_NODES } from '../json-schema/count-nodes.ts';
import { openPatternBudget, openPatternWork, type PatternBudget, type PatternWork } from '../json-schema/patterns.ts';

/** What judging one package may cost. */
export interface Budget {
    patterns: PatternBudget;
    /** For holding defaults and examples against schemas. */
    work: PatternWork;
    /** Schemas that the package may still have, references put in place. */
    nodes: number;
}

/** The whole budget of one package. */
export function openBudget(): Budget {
    return { patterns: openPatternBudget(), work: openPatternWork(), nodes: MAX_PACKAGE_NODES };
}
