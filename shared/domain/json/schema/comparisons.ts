import type { Detail } from '../../../refusals.ts';
import type { JsonObject, JsonSchema } from '../../types.ts';
import { resolveReference } from './places.ts';
import { plainTypes } from './plain-types.ts';
import type { Places } from './structure.ts';

const MAX_PROBLEMS = 50;
const PLAIN = 'plain values: say so by type (string, number, integer, boolean or null), const or enum';

/** Comparing each item with all others, or with a whole schema, takes quadratic time unless the items are plain values. */
export function checkComparisons(places: Places): Detail[] {
    const known = new Map<JsonObject, ReadonlySet<string> | undefined>();
    const isPlain = (schema: unknown) =>
        plainTypes(schema, { known, follow: (ref) => places.schemas.get(resolveReference(ref, places) ?? '-') }) !== undefined;
    const problems: Detail[] = [];
    for (const [at, schema] of places.schemas) {
        if (problems.length >= MAX_PROBLEMS) break;
        for (const keyword of comparing(schema, isPlain))
            problems.push({ path: `${at}/${keyword}`, code: 'TOO_COMPLEX', message: `${keyword} in a param needs ${PLAIN}.` });
    }
    return problems;
}

/** The keywords of a schema that compare values which may be other than plain values. */
function comparing(schema: JsonSchema, isPlain: (schema: unknown) => boolean): string[] {
    if (typeof schema === 'boolean') return [];
    const { uniqueItems, items, prefixItems = [] } = schema;
    const areUnique = uniqueItems === true && !(isPlain(items) && Array.isArray(prefixItems) && prefixItems.every(isPlain));
    const isContained = Object.hasOwn(schema, 'contains') && !isPlain(schema['contains']);
    return [...(areUnique ? ['uniqueItems'] : []), ...(isContained ? ['contains'] : [])];
}
