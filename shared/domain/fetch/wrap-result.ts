import { isObject } from '../json/schema/structure.ts';
import type { Json, JsonObject } from '../types.ts';

/** `data` is always an object (docs/api.md, "Hosted fetch"): `{items}` of a list, `{value}` of a scalar or text, `{}` of nothing. */
export function wrapResult(value: Json | undefined): JsonObject {
    if (value === undefined) return {};
    if (Array.isArray(value)) return { items: value };
    return isObject(value) ? value : { value };
}

/** The array at a dotted path (`billing.results`) of `data`; `undefined` if there is none. Follows own keys of objects only. */
export function resultsAt(data: JsonObject, path: string): Json[] | undefined {
    const found = foundAt(data, path);
    return Array.isArray(found) ? found : undefined;
}

/** Whether `null` is at the place of the array. Programs in Go write an empty array like this. */
export function isNullAt(data: JsonObject, path: string): boolean {
    return foundAt(data, path) === null;
}

function foundAt(data: JsonObject, path: string): Json | undefined {
    let here: Json | undefined = data;
    for (const step of path.split('.')) here = isObject(here) && Object.hasOwn(here, step) ? here[step] : undefined;
    return here;
}

interface Cut {
    data: JsonObject;
    /** Length of the array after the cut; 1 if there is no array. */
    results: number;
    truncated: boolean;
}

/** Keeps at most `max` items of the array at `path`. Does not modify the given data. Without an array, nothing is cut. */
export function cutResults(data: JsonObject, path: string, max: number): Cut {
    const found = resultsAt(data, path);
    if (found === undefined) return { data, results: 1, truncated: false };
    if (found.length <= max) return { data, results: found.length, truncated: false };
    return { data: withResults(data, path, found.slice(0, max)), results: max, truncated: true };
}

/** A copy of `data` with other results at an existing dotted path. Everything else is shared with `data`. */
export function withResults(data: JsonObject, path: string, items: Json[]): JsonObject {
    return replaceAt(data, path.split('.'), items);
}

/** A copy of `data` with another value at an existing dotted path. Siblings are shared with `data`. */
function replaceAt(data: JsonObject, steps: readonly string[], items: Json[]): JsonObject {
    const [step, ...rest] = steps;
    return Object.fromEntries(
        Object.entries(data).map(([key, value]) => {
            if (key !== step) return [key, value];
            return [key, rest.length > 0 && isObject(value) ? replaceAt(value, rest, items) : items];
        }),
    );
}
