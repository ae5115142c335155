import { MAX_PACKAGE_NODES } from '../../json/schema/count-nodes.ts';
import { createPatternBudget, createPatternWork, type PatternBudget, type PatternWork } from '../../json/schema/patterns.ts';

export interface Budget {
    patterns: PatternBudget;
    /** Work limit for validating defaults and examples. */
    work: PatternWork;
    /** Remaining number of schemas that the package may contain, after references are resolved. */
    nodes: number;
}

export function createBudget(): Budget {
    return { patterns: createPatternBudget(), work: createPatternWork(), nodes: MAX_PACKAGE_NODES };
}
