import { FILE_SCHEMA, isFileSchema } from '../fetch/files.ts';
import type { Inliner } from '../json/schema/inline.ts';
import type { BodyFormat, JsonObject, Param } from '../types.ts';

/**
 * The JSON Schema of a param, without outside references: the package's own, or where it has none what
 * `bindParams` takes from that source (docs/api.md, "Schema packages"), with the param's description, default and example.
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

/** A schema for what `placeFaults` allows. */
function defaultSchema({ source, style }: Param, bodyFormat: BodyFormat): JsonObject {
    if (source === 'body' && (bodyFormat === 'json' || bodyFormat === 'ndjson')) return {};
    const one: JsonObject = { type: ['string', 'number', 'boolean'] };
    return style !== 'repeat' ? { anyOf: [one, { type: 'array', items: one }] } : one;
}

/** Whether a call has to give it. */
export function isRequiredParam(param: Param): boolean {
    return param.required && param.default === undefined;
}

/** An object of params by name. */
export function schemaOfParams(params: readonly Param[], bodyFormat: BodyFormat, inliner: Inliner): JsonObject {
    const required = params.filter(isRequiredParam).map(({ name }) => name);
    return {
        type: 'object',
        properties: Object.fromEntries(params.map((param) => [param.name, schemaOfParam(param, bodyFormat, inliner)])),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
    };
}
