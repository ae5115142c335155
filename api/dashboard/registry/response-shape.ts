import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import { isExact } from '../../../shared/domain/json/exact-numbers.ts';
import type { Json, JsonObject, JsonSchema } from '../../../shared/domain/types.ts';
import { typeOf } from './describe-endpoint.ts';

/** Bounds of what a page shows of a schema, which may be large. */
const LEVELS = 6;
const FIELDS = 60;
const TEXT = 1500;

/**
 * The fields of a response with the type of each, as people read them. Undefined if the schema names no fields. A list shows the shape of one
 * item, and `…` stands for what is left out.
 */
export function responseShape(schema: JsonSchema | undefined): string | undefined {
    let left = FIELDS;

    function shapeOf(part: Json | undefined, level: number): Json {
        if (!isObject(part)) return 'any value';
        const { properties, items, additionalProperties } = part;
        if (level >= LEVELS) return '…';
        if (isObject(properties)) return fieldsOf(properties, level);
        if (isObject(items)) return [shapeOf(items, level + 1)];
        if (part['type'] === 'object' && isObject(additionalProperties)) return { '…': shapeOf(additionalProperties, level + 1) };
        return typeOf(part);
    }

    function fieldsOf(properties: JsonObject, level: number): Json {
        const shape: [string, Json][] = [];
        for (const [name, part] of Object.entries(properties)) {
            if (left-- <= 0) return Object.fromEntries([...shape, ['…', '']]);
            shape.push([name, shapeOf(part, level + 1)]);
        }
        return Object.fromEntries(shape);
    }

    const shape = isObject(schema) ? shapeOf(schema, 0) : undefined;
    if (shape === undefined || typeof shape === 'string') return undefined;
    const { text, isWhole } = writeJson(shape, TEXT, { indent: 2 });
    return isWhole ? text : `${text}…`;
}

function isObject(value: Json | undefined): value is JsonObject {
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);
}
