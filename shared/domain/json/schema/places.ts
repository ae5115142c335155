import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { escapePointer } from '../json-bounds.ts';
import { type Form, KEYWORDS } from './keywords.ts';
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
        const form = KEYWORDS.get(keyword);
        for (const [step, part] of partsOf(form, value)) collect(places, part, `${at}/${escapePointer(keyword)}${step}`);
    }
}

/** The schemas directly below a keyword, each with the rest of its pointer. */
function partsOf(form: Form | undefined, value: Json): [string, JsonSchema][] {
    if (form === 'schema') return [['', value as JsonSchema]];
    if (form === 'schemas') return (value as JsonSchema[]).map((part, index) => [`/${index}`, part]);
    if (form === 'schema map' || form === 'pattern map') {
        return Object.entries(value as JsonObject).map(([key, part]) => [`/${escapePointer(key)}`, part as JsonSchema]);
    }
    return [];
}
