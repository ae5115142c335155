import type { Endpoint, Json, JsonObject, JsonSchema } from '../../types.ts';
import { resolveReference } from './expand.ts';
import { KEYWORDS, PLACING } from './keywords.ts';
import { collectPlaces } from './places.ts';
import type { Places } from './structure.ts';

/** Maximum number of schemas in all params of an endpoint together, with references resolved. */
export const MAX_PARAM_NODES = 2000;
/** Maximum number of schemas in a package, counted in the same way. */
export const MAX_PACKAGE_NODES = 200_000;

/** The number of schemas in a valid schema with references resolved. Counting stops above `most`. */
export function countNodes(schema: JsonSchema, most: number): number {
    let places: Places | undefined;
    let nodes = 0;
    const count = (one: JsonSchema): void => {
        if (++nodes > most || typeof one === 'boolean') return;
        for (const [keyword, value] of Object.entries(one)) {
            const form = KEYWORDS.get(keyword);
            if (form === 'schema' && nodes <= most) count(value as JsonSchema);
            else if ((form === 'schemas' || form === 'schema map' || form === 'pattern map') && !PLACING.has(keyword)) countAll(value);
        }
        const { $ref: ref } = one;
        if (typeof ref !== 'string' || nodes > most) return;
        places ??= collectPlaces(schema);
        count(places.schemas.get(resolveReference(ref, places) ?? '-') ?? true);
    };
    const countAll = (parts: Json): void => {
        for (const part of Object.values(parts as JsonObject)) {
            if (nodes > most) return;
            count(part as JsonSchema);
        }
    };
    count(schema);
    return nodes;
}

/** Whether the params of an endpoint exceed the limit. Only endpoints published before the limit can. */
export function hasTooManyNodes({ params }: Pick<Endpoint, 'params'>): boolean {
    let left = MAX_PARAM_NODES;
    for (const { schema } of params) {
        if (schema !== undefined) left -= countNodes(schema, left);
        if (left < 0) return true;
    }
    return false;
}
