import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { escapePointer } from '../json-bounds.ts';
import { KEYWORDS } from './keywords.ts';
import type { Places } from './structure.ts';

/** All schemas of a valid document by their pointers, and its anchors. */
export function collectPlaces(schema: JsonSchema): Places {
    const places: Places = { schemas: new Map(), anchors: new Map() };
    collect(places, schema, '');
    return places;
}

function collect(places: Places, schema: JsonSchema, at: string): void {
    places.schemas.set(at, schema);
    if (typeof schema === 'boolean') return;
    const { $anchor: anchor } = schema;
    if (typeof anchor === 'string') places.anchors.set(anchor, at);
    for (const [keyword, value] of Object.entries(schema)) {
        for (const [step, part] of partsOf(keyword, value)) collect(places, part, `${at}/${escapePointer(keyword)}${step}`);
    }
}

/** The schemas directly below a keyword, each with the rest of its pointer. */
export function partsOf(keyword: string, value: Json): [string, JsonSchema][] {
    const form = KEYWORDS.get(keyword);
    if (form === 'schema') return [['', value as JsonSchema]];
    if (form === 'schemas') return (value as JsonSchema[]).map((part, index) => [`/${index}`, part]);
    if (form === 'schema map' || form === 'pattern map') {
        return Object.entries(value as JsonObject).map(([key, part]) => [`/${escapePointer(key)}`, part as JsonSchema]);
    }
    return [];
}

/** The value of a keyword, with `change` applied to each schema in it. */
export function mapSchemas(keyword: string, value: Json, change: (schema: JsonSchema) => Json): Json {
    switch (KEYWORDS.get(keyword)) {
        case 'schema':
            return change(value as JsonSchema);
        case 'schemas':
            return (value as JsonSchema[]).map(change);
        case 'schema map':
        case 'pattern map':
            // Object.fromEntries defines an own property `__proto__`; an assignment would set the prototype.
            return Object.fromEntries(Object.entries(value as JsonObject).map(([key, below]) => [key, change(below as JsonSchema)]));
        default:
            return value;
    }
}

/** The pointer of a local reference; `undefined` if its target is not a schema. */
export function resolveReference(ref: string, places: Places): string | undefined {
    let fragment: string;
    try {
        fragment = decodeURIComponent(ref.slice(1));
    } catch {
        return undefined;
    }
    const pointer = fragment === '' || fragment.startsWith('/') ? fragment : places.anchors.get(fragment);
    return pointer !== undefined && places.schemas.has(pointer) ? pointer : undefined;
}
