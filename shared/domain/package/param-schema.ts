import { FILE_SCHEMA, isFileSchema } from '../fetch/files.ts';
import type { Inliner } from '../json/schema/inline.ts';
import type { BodyFormat, JsonObject, Param } from '../types.ts';

/**
 * The JSON Schema of a param, without external references: the schema of the package or, if it has none, a schema for the values that
 * `bindParams` accepts from that source (docs/api.md, "Schema packages"). Includes the description, default and example of the param.
 */
export function schemaOfParam(param: Param, bodyFormat: BodyFormat, { inline, text }: Inliner): JsonObject {
    const schema = param.schema === undefined ? defaultSchema(param, bodyFormat) : { ...fileSchema(param), ...inline(param.schema) };
    const [description, fallback, example] = [text(param.description), text(param.default), text(param.example)];
    return {
        ...schema,
        ...(description === undefined ? {} : { description }),
        ...(fallback === undefined ? {} : { default: fallback }),
        ...(example === undefined ? {} : { examples: [example] }),
    };
}

function fileSchema({ source, schema }: Param): JsonObject {
    return source === 'body' && isFileSchema(schema) ? FILE_SCHEMA : {};
}

/** A schema of the values that `placeFaults` accepts. */
function defaultSchema({ source, style }: Param, bodyFormat: BodyFormat): JsonObject {
    if (source === 'body' && (bodyFormat === 'json' || bodyFormat === 'ndjson')) return {};
    const one: JsonObject = { type: ['string', 'number', 'boolean'] };
    return style !== 'repeat' ? { anyOf: [one, { type: 'array', items: one }] } : one;
}

/** Whether a call must contain the param. */
export function isRequiredParam(param: Param): boolean {
    return param.required && param.default === undefined;
}

export function schemaOfParams(params: readonly Param[], bodyFormat: BodyFormat, inliner: Inliner): JsonObject {
    const required = params.filter(isRequiredParam).map(({ name }) => name);
    return {
        type: 'object',
        properties: Object.fromEntries(params.map((param) => [param.name, schemaOfParam(param, bodyFormat, inliner)])),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
    };
}
