import type { Detail, DetailCode } from '../../refusals.ts';
import { boundedPointer, escapePointer, jsonProblems, PARAM_BOUNDS } from '../json/json-bounds.ts';
import type { Verdict } from '../json/schema.ts';
import { didYouMean } from '../text/suggestions.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Param, Values } from '../types.ts';

/** Judges a value by a JSON Schema, as the functions of `compileJsonSchema` do. */
export type ValidateValue = (schema: JsonSchema, value: Json) => Verdict;

export type Binding = { ok: true; values: Values } | { ok: false; problems: Detail[] };

/**
 * Fits a caller's `params` to an endpoint's contract (docs/api.md, "Schema packages"): every problem at once, for
 * INVALID_PARAMS, with pointers that begin with `/params`. Values are taken as they are, never coerced; absent ones get their
 * default or are left out. The result has no prototype, and whatever it holds can be built into a request.
 */
export function bindParams(endpoint: Endpoint, params: JsonObject, validate: ValidateValue): Binding {
    const problems = jsonProblems(params, PARAM_BOUNDS, '/params');
    const judged = new Set(problems.map(({ path }) => path.split('/')[2]));
    problems.push(...unknownNames(endpoint, params, judged));

    const values: Record<string, Json> = Object.create(null);
    for (const param of endpoint.params) {
        const value = valueFor(param, params);
        if (value === undefined) {
            if (param.required) problems.push(detail(param.name, 'REQUIRED', `The ${param.source} parameter ${param.name} is required.`));
        } else if (!judged.has(escapePointer(param.name))) {
            const found = problemsOf(endpoint, param, value, validate);
            problems.push(...found);
            if (found.length === 0) values[param.name] = value;
        }
    }
    return problems.length === 0 ? { ok: true, values } : { ok: false, problems };
}

function valueFor(param: Param, params: JsonObject): Json | undefined {
    return Object.hasOwn(params, param.name) ? params[param.name] : param.default;
}

/** The most unknown names that get an error each: suggestions cost time. */
const MAX_UNKNOWN = 50;
const MAX_SUGGESTED = 5;

function unknownNames(endpoint: Endpoint, params: JsonObject, judged: ReadonlySet<string | undefined>): Detail[] {
    const known = endpoint.params.map(({ name }) => name);
    const names = new Set(known);
    return Object.keys(params)
        .filter((name) => !names.has(name) && !judged.has(escapePointer(name)))
        .slice(0, MAX_UNKNOWN)
        .map((name, place) => {
            const hint = place < MAX_SUGGESTED ? suggestion(name, known) : '.';
            return detail(name, 'UNKNOWN_FIELD', `The endpoint ${endpoint.name} has no such parameter${hint}`);
        });
}

function suggestion(name: string, known: readonly string[]): string {
    const near = didYouMean(name, known);
    if (near.length > 0) return `; did you mean ${near.join(' or ')}?`;
    return known.length === 0 ? '; it takes none.' : '.';
}

function problemsOf(endpoint: Endpoint, param: Param, value: Json, validate: ValidateValue): Detail[] {
    const fault = transportFault(endpoint, param, value);
    if (fault !== undefined) return [detail(param.name, fault[0], `The ${param.source} parameter ${param.name} ${fault[1]}.`)];
    if (param.schema === undefined) return [];
    const verdict = validate(param.schema, value);
    if (verdict.ok) return [];
    return verdict.errors.map((error) => ({
        path: `/params/${escapePointer(param.name)}${error.path}`,
        code: codeOf(error.keyword),
        message: `The value of ${param.name}${error.path} ${error.message}.`,
    }));
}

type Fault = [DetailCode, string];

/** Values that the param's place cannot hold, whatever its schema allows. */
function transportFault(endpoint: Endpoint, param: Param, value: Json): Fault | undefined {
    if (param.source === 'path') return pathFault(value);
    if (param.source === 'query') {
        if (Array.isArray(value) && param.schema === undefined) return ['INVALID_TYPE', 'takes a string, a number or a boolean'];
        return listFault(value);
    }
    return endpoint.bodyFormat === 'form' ? listFault(value) : undefined;
}

function pathFault(value: Json): Fault | undefined {
    if (!isScalar(value)) return ['INVALID_TYPE', 'takes a string, a number or a boolean'];
    if (value === '') return ['INVALID_VALUE', 'may not be empty, since it is a segment of the path'];
    // The one pair of texts that percent-encoding leaves alone and every URL parser takes for a step up.
    return value === '.' || value === '..' ? ['INVALID_VALUE', `may not be ${value}, since it is a segment of the path`] : undefined;
}

function listFault(value: Json): Fault | undefined {
    const fits = Array.isArray(value) ? value.every(isScalar) : isScalar(value);
    return fits ? undefined : ['INVALID_TYPE', 'takes a string, a number, a boolean or a list of these'];
}

function isScalar(value: Json): value is string | number | boolean {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function codeOf(keyword: string): DetailCode {
    if (keyword === 'type') return 'INVALID_TYPE';
    return keyword === 'required' ? 'REQUIRED' : 'INVALID_VALUE';
}

function detail(name: string, code: DetailCode, message: string): Detail {
    return { path: boundedPointer(`/params/${escapePointer(name)}`), code, message };
}
