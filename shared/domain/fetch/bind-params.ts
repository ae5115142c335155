import type { Detail, DetailCode } from '../../refusals.ts';
import { withDoubles } from '../json/exact-numbers.ts';
import { boundedPointer, escapePointer, jsonProblems, PARAM_BOUNDS } from '../json/json-bounds.ts';
import type { Verdict } from '../json/schema/interpret.ts';
import { didYouMean } from '../text/suggestions.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Param, Values } from '../types.ts';
import { findOversizedFile, MAX_FILE_BYTES, takesFiles } from './files.ts';
import { exceedsFilledSize } from './filled-size.ts';
import { isSegment, placeFaults } from './param-place.ts';

export type ValidateValue = (schema: JsonSchema, value: Json) => Verdict;

export type Binding = { ok: true; values: Values } | { ok: false; problems: Detail[] };

/** A binding as a message between threads. `values` is JSON text, since structured cloning would lose the digits of ExactNumbers. */
export type BindingAsText = { ok: true; values: string } | (Binding & { ok: false });

/**
 * Checks the `params` of a caller against the contract of an endpoint (docs/api.md, "Schema packages"). Reports all problems at once, for
 * INVALID_PARAMS, with pointers that begin with `/params`. Values are never coerced. Absent params get their default or are left out. The
 * result has no prototype, and `buildRequest` accepts every result.
 * @param suggests whether problems suggest similar param names, which takes up to 16 ms
 */
export function bindParams(endpoint: Endpoint, params: JsonObject, validate: ValidateValue, suggests = true): Binding {
    const bounds = takesFiles(endpoint) ? { ...PARAM_BOUNDS, freeAt: 'base64' } : PARAM_BOUNDS;
    const problems = jsonProblems(params, bounds, '/params');
    const checked = new Set(problems.map(({ path }) => path.split('/')[2]));
    problems.push(...unknownNames(endpoint, params, checked, suggests ? MAX_SUGGESTED : 0));

    const values: Record<string, Json> = Object.create(null);
    for (const param of endpoint.params) {
        const value = Object.hasOwn(params, param.name) ? params[param.name] : param.default;
        if (value === undefined) {
            if (param.required) problems.push(detail(param.name, 'REQUIRED', `The ${param.source} parameter ${param.name} is required.`));
        } else if (!checked.has(escapePointer(param.name))) {
            const found = problemsOf(endpoint, param, value, validate);
            problems.push(...found);
            if (found.length === 0) values[param.name] = value;
        }
    }
    const oversized = findOversizedFile(endpoint, values);
    if (oversized !== undefined)
        problems.push(detail(oversized, 'TOO_COMPLEX', `The files of a call may have at most ${MAX_FILE_BYTES} bytes in all.`));
    if (problems.length === 0 && exceedsFilledSize(endpoint, values)) {
        const message = `The endpoint ${endpoint.name} repeats these values so often that the request would be too large. Give shorter ones.`;
        problems.push({ path: '/params', code: 'TOO_COMPLEX', message });
    }
    return problems.length === 0 ? { ok: true, values } : { ok: false, problems };
}

/** Maximum number of unknown names that get an error each, because suggestions take time. */
const MAX_UNKNOWN = 50;
const MAX_SUGGESTED = 5;

function unknownNames(endpoint: Endpoint, params: JsonObject, checked: ReadonlySet<string | undefined>, suggested: number): Detail[] {
    const known = endpoint.params.map(({ name }) => name);
    const names = new Set(known);
    return Object.keys(params)
        .filter((name) => !names.has(name) && !checked.has(escapePointer(name)))
        .slice(0, MAX_UNKNOWN)
        .map((name, place) => {
            const hint = place < suggested ? suggestion(name, known) : '.';
            return detail(name, 'UNKNOWN_FIELD', `The endpoint ${endpoint.name} has no such parameter${hint}`);
        });
}

function suggestion(name: string, known: readonly string[]): string {
    const near = didYouMean(name, known);
    if (near.length > 0) return `; did you mean ${near.join(' or ')}?`;
    return known.length === 0 ? '; it takes none.' : '.';
}

function problemsOf(endpoint: Endpoint, param: Param, value: Json, validate: ValidateValue): Detail[] {
    const faults = placeFaults(param, endpoint.bodyFormat, value);
    if (faults.length > 0) {
        const subject = `The ${param.source} parameter ${param.name}`;
        return faults.map(({ code, says, below }) => detail(param.name, code, `${subject} ${says}.`, below));
    }
    if (typeof value === 'string' && !isSegment(value) && isInStepPath(endpoint, param.name)) {
        const message = `The parameter ${param.name} is part of the path of a page that is opened first, so it may not be empty, "." or "..".`;
        return [detail(param.name, 'INVALID_VALUE', message)];
    }
    if (param.schema === undefined) return [];
    const verdict = validate(param.schema, withDoubles(value));
    if (verdict.ok) return [];
    return verdict.errors.map((error) => ({
        path: `/params/${escapePointer(param.name)}${error.path}`,
        code: codeOf(error.keyword),
        message: `The value of ${param.name}${error.path} ${error.message}.`,
    }));
}

/** Whether a value becomes part of the path of a `prepare` page. Params in the endpoint's own path are checked by their source. */
function isInStepPath({ prepare }: Endpoint, name: string): boolean {
    return prepare?.some(({ url }) => (url.split('?', 1)[0] ?? '').includes(`{${name}}`)) === true;
}

function codeOf(keyword: string): DetailCode {
    if (keyword === 'type') return 'INVALID_TYPE';
    return keyword === 'required' ? 'REQUIRED' : 'INVALID_VALUE';
}

function detail(name: string, code: DetailCode, message: string, below = ''): Detail {
    return { path: boundedPointer(`/params/${escapePointer(name)}${below}`), code, message };
}
