import type { Detail } from '../../refusals.ts';
import type { JsonSchema } from '../types.ts';
import { checkComparisons } from './schema/comparisons.ts';
import { MAX_PACKAGE_NODES } from './schema/count-nodes.ts';
import { measureSchema } from './schema/measure.ts';
import { createPatternBudget, type PatternBudget } from './schema/patterns.ts';
import { resolveReference } from './schema/places.ts';
import { walkSchema } from './schema/structure.ts';

/** Limits for all schemas of a package together. */
interface SchemaBudget {
    patterns: PatternBudget;
    /** Remaining number of schemas, with references resolved. Below 0, nothing more is read. */
    nodes: number;
}

const TOO_MANY_NODES = `With their references resolved, the JSON Schemas of a package may have at most ${MAX_PACKAGE_NODES.toLocaleString('en')} schemas.`;

/**
 * Finds the reasons why a value is not a JSON Schema 2020-12 that a package may contain (docs/api.md, "Schema packages"). Checks the form
 * of each keyword, that the linear-time engine accepts all patterns, and that references stay inside and are not cyclic; an expanded schema
 * may have at most 8 levels and 1,000 schemas. With `forParam`, `uniqueItems` and `contains` over objects are not allowed either. `at`
 * precedes each pointer. `budget` limits all schemas of a package together. Never throws for any value.
 */
export function checkJsonSchema(schema: unknown, options: { at?: string; forParam?: boolean; budget?: SchemaBudget } = {}): Detail[] {
    const { budget } = options;
    const walked = walkSchema(schema, budget?.patterns ?? createPatternBudget());
    const { problems } = walked;
    for (const { at, ref } of walked.refs) {
        if (resolveReference(ref, walked) === undefined)
            problems.push({ path: at, code: 'INVALID_VALUE', message: 'This $ref does not point to a schema of the document.' });
    }
    if (options.forParam) problems.push(...checkComparisons(walked));
    if (problems.length === 0 && (budget === undefined || budget.nodes >= 0)) {
        const measured = measureSchema(schema as JsonSchema, walked);
        if (!measured.ok) problems.push(measured.problem);
        else if (budget !== undefined) {
            budget.nodes -= measured.nodes;
            if (budget.nodes < 0) problems.push({ path: '', code: 'TOO_COMPLEX', message: TOO_MANY_NODES });
        }
    }
    return problems.map((problem) => ({ ...problem, path: (options.at ?? '') + problem.path }));
}
