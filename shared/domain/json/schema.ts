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

/** `path` is a JSON pointer into the value that was checked, or its beginning. At most ten errors; the first one usually stands alone. */
export type Verdict = { ok: true } | { ok: false; errors: { path: string; message: string; keyword: string }[] };
/** With `work` the patterns spend no more than what is left of it; a value that would take more does not fit. */
type Validator = (value: unknown, work?: PatternWork) => Verdict;

/** Limits for all schemas of a package together. */
interface SchemaBudget {
    patterns: PatternBudget;
    /** Remaining number of schemas, with references resolved; below 0 nothing more is read. */
    nodes: number;
}

const TOO_MANY_NODES = `With their references put in place the JSON Schemas of a package are at most ${MAX_PACKAGE_NODES.toLocaleString('en')} schemas.`;

/**
 * Everything that keeps a value from being a JSON Schema 2020-12 as a package may hold one (docs/api.md, "Schema packages"): the form of each
 * keyword, patterns that the linear-time engine takes, references that stay inside and never come back to themselves, at most 8
 * deep and 1,000 schemas when expanded; with `forParam` also no `uniqueItems` or `contains` over objects. `at` is put before each pointer, `budget` bounds
 * what all schemas of a package together may be.
 * Never throws, whatever the value is.
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
 * A function that checks values by a schema which `checkJsonSchema` found sound; another one is a bug and throws TypeError. It
 * stops at the first violation, so that its cost is bounded by the value's size. What was compiled is kept by its size, told apart by the schema's text.
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

/** Bytes of compiled schemas that are kept: code and what it closes over come to about 4 KB for each schema within. */
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
    // A property called `constructor` is there only when the value has it.
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
    // Ajv forgets objects only.
    const schema = typeof expanded === 'boolean' ? { not: !expanded } : expanded;
    try {
        return ajv.compile(schema);
    } finally {
        // It keeps every schema it has compiled until it is told to forget it.
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
