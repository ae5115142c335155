import { isObject, listOf, typesOf } from '../../json/schema/structure.ts';
import type { Json, JsonObject } from '../../types.ts';

/** The type of values that the schema leaves open, and whether objects may have fields that the schema does not name. */
interface Side {
    open: 'Json' | 'CallValue';
    takesOthers: boolean;
}

/** Types of params. A call may use everything that its schema allows. */
export const SENT: Side = { open: 'CallValue', takesOthers: true };
/** Types of answers. Only the fields that the schema names are offered. */
export const RECEIVED: Side = { open: 'Json', takesOthers: false };

/**
 * The TypeScript type of the values that match a schema without references. Types omit what they cannot express (bounds, patterns,
 * conditions), so the type is never narrower than the schema.
 * @param indent number of spaces before the line where the type begins
 */
export function typeOf(schema: Json | undefined, side: Side, indent = 0): string {
    if (isNever(schema)) return 'never';
    if (!isObject(schema)) return side.open;
    const { allOf, anyOf, oneOf } = schema;
    const parts = [
        ownType(schema, side, indent),
        ...listOf(allOf).map((part) => typeOf(part, side, indent)),
        ...[anyOf, oneOf].filter(Array.isArray).map((choices) => union(side, choices, (choice) => typeOf(choice, side, indent))),
    ];
    const closed = [...new Set(parts.filter((part) => part !== side.open))];
    if (closed.length === 0) return side.open;
    return closed.length === 1 ? (closed[0] ?? side.open) : closed.map((part) => `(${part})`).join(' & ');
}

function fieldName(name: string): string {
    return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Lines of a comment above a declaration; empty if there is no text. */
export function comment(text: Json | undefined, indent: number): string[] {
    const before = ' '.repeat(indent);
    const lines =
        typeof text === 'string'
            ? text
                  .trim()
                  .replaceAll('*/', '*\\/')
                  .split(/\r\n|[\n\r\u2028\u2029]/)
            : [''];
    if (lines.length === 1) return lines[0] === '' ? [] : [`${before}/** ${lines[0]} */`];
    return [`${before}/**`, ...lines.map((line) => `${before} * ${line}`.trimEnd()), `${before} */`];
}

function ownType(schema: JsonObject, side: Side, indent: number): string {
    const { const: only, enum: values } = schema;
    if (only !== undefined) return literal(only, side);
    if (Array.isArray(values)) return union(side, values, (value) => literal(value, side));
    const types = typesOf(schema);
    return types.length === 0 ? side.open : union(side, types, (name) => ofType(name, schema, side, indent));
}

function ofType(name: Json, schema: JsonObject, side: Side, indent: number): string {
    if (name === 'integer' || name === 'number') return side.open === 'CallValue' ? 'number | bigint' : 'number';
    if (name === 'array') return arrayType(schema, side, indent);
    return name === 'object' ? objectType(schema, side, indent) : String(name);
}

function arrayType({ prefixItems, items }: JsonObject, side: Side, indent: number): string {
    const first = listOf(prefixItems);
    const rest = items === undefined || first.length === 0 || !isNever(items) ? [items] : [];
    const item = union(side, [...first, ...rest], (one) => typeOf(one, side, indent));
    return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectType(schema: JsonObject, side: Side, indent: number): string {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const fields = isObject(properties) ? Object.entries(properties) : [];
    const needed = new Set(listOf(required));
    const isClosed = isNever(additionalProperties) && patternProperties === undefined;
    if (fields.length === 0) {
        if (isClosed) return '{ [name: string]: never }';
        const others = patternProperties === undefined ? typeOf(additionalProperties, side, indent) : side.open;
        return `{ [name: string]: ${others} }`;
    }
    const lines = fields.flatMap(([name, field]) => [
        ...comment(isObject(field) ? field['description'] : undefined, indent + 4),
        `${' '.repeat(indent + 4)}${fieldName(name)}${needed.has(name) ? '' : '?'}: ${typeOf(field, side, indent + 4)};`,
    ]);
    const named = ['{', ...lines, `${' '.repeat(indent)}}`].join('\n');
    return side.takesOthers && !isClosed ? `${named} & { [name: string]: ${side.open} }` : named;
}

function literal(value: Json, side: Side): string {
    return typeof value === 'object' && value !== null ? side.open : JSON.stringify(value);
}

function union<Choice>({ open }: Side, choices: readonly Choice[], write: (choice: Choice) => string): string {
    const given = [...new Set(choices.map(write))].filter((type) => type !== 'never');
    if (given.includes(open)) return open;
    if (given.length <= 1) return given[0] ?? 'never';
    return given.map((type) => (type.includes('&') ? `(${type})` : type)).join(' | ');
}

function isNever(schema: Json | undefined): boolean {
    return schema === false || (isObject(schema) && isObject(schema['not']) && Object.keys(schema['not']).length === 0);
}
