import { fitsOnLoop } from '../../../shared/domain/fetch/validate-params.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema } from '../../../shared/domain/types.ts';

const PLAIN: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean']);

/**
 * The schema of a value in a URL, a header or a form: a text, a number or a boolean. `null`, lists and objects cannot be sent there. The
 * default of such a value is that of its param.
 */
export function plainSchema(schema: JsonSchema): JsonObject {
    if (!isObject(schema)) return { type: 'string' };
    const types = (Array.isArray(schema['type']) ? schema['type'] : [schema['type']]).filter(
        (type): type is string => typeof type === 'string' && PLAIN.has(type),
    );
    const { properties: _p, items: _i, anyOf: _a, required: _r, additionalProperties: _d, default: _s, ...rest } = schema;
    if (types.length > 0) return { ...withoutNull(rest), type: types.length === 1 ? (types[0] ?? 'string') : types };
    const isStructure = schema['type'] !== undefined || properties(schema);
    return isStructure ? { type: 'string' } : withoutNull(rest);
}

function properties(schema: JsonObject): boolean {
    return schema['properties'] !== undefined || schema['items'] !== undefined;
}

function withoutNull(schema: JsonObject): JsonObject {
    const { enum: choices, ...rest } = schema;
    return Array.isArray(choices) ? { ...rest, enum: choices.filter((choice) => choice !== null) } : rest;
}

/** Whether a value is plain, short and valid for a schema. */
export function isFit(value: Json | undefined, schema: JsonSchema): value is Json {
    if (value === undefined || value === '' || !['string', 'number', 'boolean'].includes(typeof value)) return false;
    return (typeof value !== 'string' || value.length <= 200) && fitsOnLoop(schema, value);
}
