import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageParam, ParamStyle } from '../../../shared/domain/types.ts';
import type { LeftOut, NotRead } from '../operation.ts';
import { printableName } from '../texts.ts';
import { plainSchema } from './plain-schema.ts';
import { type DocumentReader, typesOf } from './schemas.ts';

/** The serialized form of a list or an object in a query or a form, or why it cannot be sent there. */
type ReadStructure = { ok: true; schema: JsonSchema; style?: ParamStyle; left: LeftOut[] } | NotRead;

/**
 * Reads a list or an object by its `style` and `explode`; undefined for plain values.
 * @param said the parameter, or the `encoding` of a field
 */
export function readStructure(name: string, schema: Json | undefined, said: JsonObject, reader: DocumentReader): ReadStructure | undefined {
    const resolved = reader.resolve(schema) ?? {};
    const style = typeof said['style'] === 'string' ? said['style'] : 'form';
    const object = objectIn(resolved, reader);
    if (object !== undefined && style === 'deepObject') return readMembers(name, object, reader);
    const types = typesOf(resolved);
    if (types.includes('object')) return { ok: false, why: 'This object can be sent only in the style deepObject.' };
    if (!types.includes('array')) return undefined;
    const items = reader.resolve(resolved['items']);
    if (items !== undefined && typesOf(items).some((type) => type === 'object' || type === 'array'))
        return { ok: false, why: 'A list in a query or a form can contain only texts, numbers and booleans.' };
    const explode = typeof said['explode'] === 'boolean' ? said['explode'] : style === 'form';
    return { ok: true, schema: listSchema(resolved, reader), ...listStyle(style, explode), left: [] };
}

/** OpenAPI does not define lists in the style deepObject. Servers that use it accept brackets. */
function listStyle(style: string, explode: boolean): { style?: ParamStyle } {
    if (style === 'deepObject') return { style: 'brackets' };
    if (explode) return {};
    return { style: style === 'spaceDelimited' ? 'space' : style === 'pipeDelimited' ? 'pipe' : 'comma' };
}

function listSchema(list: JsonObject, reader: DocumentReader): JsonSchema {
    const items = plainSchema(reader.ofRequest(list['items']));
    if (isObject(items) && items['type'] !== undefined) return { type: 'array', items };
    const places = listOf(list['prefixItems']);
    const types = [...new Set(places.flatMap((place) => typesOf(reader.resolve(place) ?? {})))];
    return { type: 'array', items: plainSchema({ type: types.length > 0 ? types : 'string' }) };
}

/** The object that a schema describes, directly or as one of several alternatives. */
function objectIn(schema: JsonObject, reader: DocumentReader): JsonObject | undefined {
    if (typesOf(schema).includes('object')) return schema;
    const alternatives = [schema['anyOf'], schema['oneOf']].find(Array.isArray) ?? [];
    return alternatives.map((one) => reader.resolve(one)).find((one) => one !== undefined && typesOf(one).includes('object'));
}

/** Reads an object with one level. Members that are lists or objects are left out. */
function readMembers(name: string, object: JsonObject, reader: DocumentReader): ReadStructure {
    const left: LeftOut[] = [];
    const properties: JsonObject = {};
    for (const [key, schema] of Object.entries(objectOf(object['properties']))) {
        const types = typesOf(reader.resolve(schema) ?? {});
        if (types.includes('array') || types.includes('object'))
            left.push({ name: `${printableName(name)}[${printableName(key)}]`, why: 'An object in a query or a form has one level.' });
        else properties[key] = plainSchema(reader.ofRequest(schema));
    }
    const isOpen = object['properties'] === undefined;
    if (!isOpen && Object.keys(properties).length === 0) return { ok: false, why: 'An object in a query or a form has one level.' };
    const needed = listOf(object['required']).filter((key) => Object.hasOwn(properties, String(key)));
    return {
        ok: true,
        style: 'deepObject',
        schema: { type: 'object', ...(isOpen ? {} : { properties }), ...(needed.length === 0 ? {} : { required: needed }) },
        left,
    };
}

/** The field `style` of a param, if it is not the default. */
export function keepStyle({ style }: { style?: ParamStyle }): Pick<PackageParam, 'style'> {
    return style === undefined ? {} : { style };
}
