import type { Endpoint, JsonSchema } from '../../types.ts';
import { PLACING } from './keywords.ts';
import { collectPlaces, partsOf, resolveReference } from './places.ts';
import type { Places } from './structure.ts';

/** Maximum number of schemas in all params of an endpoint together, with references resolved. */
export const MAX_PARAM_NODES = 2000;
/** Maximum number of schemas in a package, counted in the same way. */
export const MAX_PACKAGE_NODES = 200_000;

/** The number of schemas in a valid schema with references resolved. Counting stops above `max`. */
export function countNodes(schema: JsonSchema, max: number): number {
    let places: Places | undefined;
    let nodes = 0;
    const count = (one: JsonSchema): void => {
        if (++nodes > max || typeof one === 'boolean') return;
        for (const [keyword, value] of Object.entries(one)) {
            if (PLACING.has(keyword)) continue;
            for (const [, part] of partsOf(keyword, value)) {
                if (nodes > max) return;
                count(part);
            }
        }
        const { $ref: ref } = one;
        if (typeof ref !== 'string' || nodes > max) return;
        places ??= collectPlaces(schema);
        count(places.schemas.get(resolveReference(ref, places) ?? '-') ?? true);
    };
    count(schema);
    return nodes;
}

/** Whether the params of an endpoint exceed the limit. Only endpoints published before there was a limit can. */
export function hasTooManyNodes({ params }: Pick<Endpoint, 'params'>): boolean {
    let left = MAX_PARAM_NODES;
    for (const { schema } of params) {
        if (schema !== undefined) left -= countNodes(schema, left);
        if (left < 0) return true;
    }
    return false;
}
