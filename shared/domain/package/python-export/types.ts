import { isObject, listOf, objectOf, typesOf } from '../../json/schema/structure.ts';
import type { Json, JsonObject } from '../../types.ts';
import { createNames, type Names, pascal } from './names.ts';
import { docstring, literal } from './text.ts';

export interface PythonTypes {
    /**
     * The type of the values that match a schema without references. The type is never narrower than the schema.
     * @param name of the dataclass, if the value is an object with known fields
     * @param objects how objects are written: as dataclasses if they are received, as mappings if they are sent
     */
    of(schema: Json | undefined, name: string, objects?: 'dataclass' | 'Mapping'): string;
    /** Lines of all dataclasses so far. */
    classes(): string[];
}

/** @param names the names of the file, which include those of classes */
export function createTypes(names: Names): PythonTypes {
    const classes: string[] = [];

    function typeOf(schema: Json | undefined, name: string, objects: 'dataclass' | 'Mapping'): string {
        if (!isObject(schema)) return 'Any';
        const { allOf, anyOf, oneOf, const: only, enum: values, type } = schema;
        if (only !== undefined) return literals([only]);
        if (Array.isArray(values)) return literals(values);
        const choices = [anyOf, oneOf].find(Array.isArray);
        if (choices !== undefined && type === undefined) {
            return union(choices.map((choice, place) => typeOf(choice, place === 0 ? name : `${name}${place + 1}`, objects)));
        }
        if (Array.isArray(allOf) && allOf.length > 0) {
            const whole = mergeSchemas(schema, allOf);
            return whole === undefined ? 'Any' : typeOf(whole, name, objects);
        }
        const types = typesOf(schema);
        return types.length === 0 ? 'Any' : union(types.map((one) => ofType(one, schema, name, objects)));
    }

    function ofType(type: Json, schema: JsonObject, name: string, objects: 'dataclass' | 'Mapping'): string {
        if (type === 'array') {
            return schema['prefixItems'] === undefined ? `List[${typeOf(schema['items'], `${name}Item`, objects)}]` : 'List[Any]';
        }
        if (type !== 'object') return SCALARS.get(type) ?? 'Any';
        const { properties, additionalProperties } = schema;
        if (objects === 'Mapping') return 'Mapping[str, Any]';
        if (!isObject(properties) || Object.keys(properties).length === 0) {
            return `Dict[str, ${isObject(additionalProperties) ? typeOf(additionalProperties, `${name}Value`, objects) : 'Any'}]`;
        }
        return dataclass(schema, properties, name);
    }

    function dataclass(schema: JsonObject, properties: JsonObject, wanted: string): string {
        const name = names.take(wanted.slice(0, MAX_NAME));
        const { required, description } = schema;
        const needed = new Set(listOf(required));
        // Names that the class itself uses.
        const fieldNames = createNames(['field', 'dataclass', 'str', 'int', 'float', 'bool']);
        const lines = Object.entries(properties).map(([key, field]) => {
            const own = fieldNames.take(key);
            const type = typeOf(field, `${name}${pascal(key)}`, 'dataclass');
            const whole = needed.has(key) || type === 'Any' || type.startsWith('Optional[') ? type : `Optional[${type}]`;
            return `    ${own}: ${whole}${own === key ? '' : ` = field(metadata={"json": ${literal(key)}})`}`;
        });
        classes.push(
            ['', '@dataclass', `class ${name}:`, ...docstring(typeof description === 'string' ? description : '', 4), ...lines, ''].join(
                '\n',
            ),
        );
        return name;
    }

    return { of: (schema, name, objects = 'dataclass') => typeOf(schema, name, objects), classes: () => classes };
}

/** Maximum length of a class name in characters. It is built from the names of all parent fields, and nested classes contain it. */
const MAX_NAME = 100;

const SCALARS: ReadonlyMap<Json, string> = new Map([
    ['string', 'str'],
    ['integer', 'int'],
    ['number', 'float'],
    ['boolean', 'bool'],
    ['null', 'None'],
]);

/** Merges the parts of an object schema into one; undefined if a part is not an object. */
function mergeSchemas(schema: JsonObject, parts: readonly Json[]): JsonObject | undefined {
    const { allOf: _allOf, ...own } = schema;
    let whole: JsonObject = { ...own };
    for (const part of parts) {
        if (!isObject(part) || part['anyOf'] !== undefined || part['oneOf'] !== undefined || part['allOf'] !== undefined) return undefined;
        const [before, more] = [whole['properties'], part['properties']];
        const properties = { ...objectOf(before), ...objectOf(more) };
        const required = [...listOf(whole['required']), ...listOf(part['required'])];
        whole = { ...whole, ...part, ...(Object.keys(properties).length === 0 ? {} : { properties }), required };
    }
    return whole;
}

function literals(values: readonly Json[]): string {
    const scalars = values.filter((value) => typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value));
    const isNullable = values.includes(null);
    if (scalars.length + (isNullable ? 1 : 0) < values.length || scalars.length === 0) return 'Any';
    const written = `Literal[${[...new Set(scalars.map(literal))].join(', ')}]`;
    return isNullable ? `Optional[${written}]` : written;
}

function union(types: readonly string[]): string {
    const distinct = [...new Set(types)];
    if (distinct.length === 0 || distinct.includes('Any')) return 'Any';
    const others = distinct.filter((type) => type !== 'None');
    if (others.length === 0) return 'None';
    const whole = others.length === 1 ? String(others[0]) : `Union[${others.join(', ')}]`;
    return distinct.length === others.length || whole.startsWith('Optional[') ? whole : `Optional[${whole}]`;
}
