import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import type { Detail } from '../../refusals.ts';
import type { JsonSchema } from '../types.ts';
import { boundedPointer, escapePointer } from './json-bounds.ts';
import { checkComparisons } from './schema/comparisons.ts';
import { MAX_PACKAGE_NODES } from './schema/count-nodes.ts';
import { expandSchema, resolveReference } from './schema/expand.ts';
import { FORMATS } from './schema/formats.ts';
import {
    compilePattern,
    createPatternBudget,
    type LinearPattern,
    type PatternBudget,
    type PatternWork,
    TooMuchWork,
    withinWork,
} from './schema/patterns.ts';
import { walkSchema } from './schema/structure.ts';

/** `path` is a JSON pointer into the checked value, or its beginning. At most ten errors, usually only one. */
export type Verdict = { ok: true } | { ok: false; errors: { path: string; message: string; keyword: string }[] };
/** With `work`, patterns use only the remaining steps of it. A value that needs more counts as invalid. */
type Validator = (value: unknown, work?: PatternWork) => Verdict;

/** Limits for all schemas of a package together. */
interface SchemaBudget {
    patterns: PatternBudget;
    /** Remaining number of schemas, with references resolved. Below 0, nothing more is read. */
    nodes: number;
}

const TOO_MANY_NODES = `With their references put in place the JSON Schemas of a package are at most ${MAX_PACKAGE_NODES.toLocaleString('en')} schemas.`;

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
            problems.push({ path: at, code: 'INVALID_VALUE', message: 'This $ref points to no schema of the document.' });
    }
    if (options.forParam) problems.push(...checkComparisons(walked));
    if (problems.length === 0 && (budget === undefined || budget.nodes >= 0)) {
        const expanded = expandSchema(schema as JsonSchema, walked);
        if (!expanded.ok) problems.push(expanded.problem);
        else if (budget !== undefined) {
            budget.nodes -= expanded.nodes;
            if (budget.nodes < 0) problems.push({ path: '', code: 'TOO_COMPLEX', message: TOO_MANY_NODES });
        }
    }
    return problems.map((problem) => ({ ...problem, path: (options.at ?? '') + problem.path }));
}

/**
 * Returns a function that validates values against a schema that passed `checkJsonSchema`. Any other schema is a bug and throws TypeError.
 * The function stops at the first violation, so that its cost is bounded by the size of the value. Compiled schemas are cached by the text
 * of the schema, up to a total size.
 */
export function compileJsonSchema(schema: JsonSchema): Validator {
    if (schema === true) return () => ({ ok: true });
    const text = JSON.stringify(schema);
    const known = validators.get(text);
    if (known !== undefined) return known.validator;
    const { validator, nodes } = compileFresh(schema);
    validators.set(text, { validator, bytes: 2 * text.length + nodes * BYTES_OF_NODE });
    return validator;
}

const MAX_ERRORS = 10;

/** Maximum size of cached compiled schemas in bytes. The code and its closures take about 4 KB for each contained schema. */
const MAX_COMPILED_BYTES = 32 * 1024 * 1024;
const BYTES_OF_NODE = 4096;
const validators = new LRUCache<string, { validator: Validator; bytes: number }>({
    maxSize: MAX_COMPILED_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
});

const ajv = new Ajv2020({
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // Without this option, a property `constructor` would always seem present.
    ownProperties: true,
    formats: FORMATS,
    code: { regExp: Object.assign(linearRegExp, { code: 'linearRegExp' }) },
});

function linearRegExp(source: string): LinearPattern {
    const made = compilePattern(source);
    if (!made.ok) throw new TypeError(`a pattern that was checked before ${made.fault}`);
    return made.pattern;
}

function compileFresh(schema: JsonSchema): { validator: Validator; nodes: number } {
    const walked = walkSchema(schema, createPatternBudget());
    const expanded = walked.problems.length === 0 ? expandSchema(schema, walked) : undefined;
    if (!expanded?.ok) throw new TypeError('the schema was not checked before it was compiled');
    const validator = compileExpanded(expanded.schema);
    const validate: Validator = (value, work) => {
        try {
            const fits = work === undefined ? validator(value) : withinWork(work, () => validator(value));
            return fits ? { ok: true } : { ok: false, errors: (validator.errors ?? []).slice(0, MAX_ERRORS).map(readError) };
        } catch (error) {
            if (!(error instanceof TooMuchWork)) throw error;
            return { ok: false, errors: [{ path: '', message: 'takes too much work to hold against the patterns', keyword: 'pattern' }] };
        }
    };
    return { validator: validate, nodes: expanded.nodes };
}

function compileExpanded(expanded: JsonSchema): ValidateFunction {
    // Ajv can remove only objects from its cache.
    const schema = typeof expanded === 'boolean' ? { not: !expanded } : expanded;
    try {
        return ajv.compile(schema);
    } finally {
        // Ajv caches every compiled schema until it is removed explicitly.
        ajv.removeSchema(schema);
    }
}

function readError(error: ErrorObject): { path: string; message: string; keyword: string } {
    const { keyword, params } = error;
    const instancePath = boundedPointer(error.instancePath);
    const stray: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
    if (typeof stray === 'string')
        return { path: boundedPointer(`${instancePath}/${escapePointer(stray)}`), message: 'is not a property of this object', keyword };
    return { path: instancePath, message: error.message ?? 'does not fit the schema', keyword };
}
