import type { Json, JsonObject, JsonSchema } from '../types.ts';
import { PLACING } from './keywords.ts';
import { compilePattern } from './patterns.ts';
import { isObject } from './structure.ts';

/**
 * Judges a value by a sound schema that uses only the keywords below, without compiling anything; `undefined` for every other
 * schema. Publishing judges hundreds of defaults and examples once each, where compiling costs 0.4 ms and more a schema and this
 * 1 µs. The suite holds it against the compiled judge.
 */
export function judgeSimply(schema: JsonSchema, value: Json): boolean | undefined {
    if (typeof schema === 'boolean') return schema;
    if (!isSimple(schema)) return undefined;
    return fits(schema, value);
}

type Rule = (given: Json, value: Json) => boolean;

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
    ['type', (given, value) => (Array.isArray(given) ? given : [given]).some((type) => isOfType(type, value))],
    ['enum', (given, value) => (given as Json[]).includes(value)],
    ['const', (given, value) => given === value],
    ['minimum', (given, value) => typeof value !== 'number' || value >= Number(given)],
    ['maximum', (given, value) => typeof value !== 'number' || value <= Number(given)],
    ['exclusiveMinimum', (given, value) => typeof value !== 'number' || value > Number(given)],
    ['exclusiveMaximum', (given, value) => typeof value !== 'number' || value < Number(given)],
    ['minLength', (given, value) => typeof value !== 'string' || lengthOf(value) >= Number(given)],
    ['maxLength', (given, value) => typeof value !== 'string' || lengthOf(value) <= Number(given)],
    ['pattern', (given, value) => typeof value !== 'string' || matches(String(given), value)],
    ['minItems', (given, value) => !Array.isArray(value) || value.length >= Number(given)],
    ['maxItems', (given, value) => !Array.isArray(value) || value.length <= Number(given)],
    ['items', (given, value) => !Array.isArray(value) || value.every((item) => fits(given as JsonSchema, item))],
]);

/** Annotations that say nothing about a value. */
const NOTES: ReadonlySet<string> = new Set(['default', 'example', 'examples', 'deprecated', '$comment']);

function isSimple(schema: JsonSchema): boolean {
    if (typeof schema === 'boolean') return true;
    if (Object.hasOwn(schema, '$ref')) return false;
    return Object.entries(schema).every(([keyword, given]) => {
        if (keyword === 'items') return isSimple(given as JsonSchema);
        if (keyword === 'enum') return Array.isArray(given) && given.every(isPlain);
        if (keyword === 'const') return isPlain(given);
        return RULES.has(keyword) || PLACING.has(keyword) || NOTES.has(keyword);
    });
}

function fits(schema: JsonSchema, value: Json): boolean {
    if (typeof schema === 'boolean') return schema;
    return Object.entries(schema).every(([keyword, given]) => RULES.get(keyword)?.(given, value) ?? true);
}

function isOfType(type: Json, value: Json): boolean {
    if (type === 'integer') return Number.isInteger(value);
    if (type === 'number') return typeof value === 'number';
    if (type === 'array') return Array.isArray(value);
    if (type === 'object') return isObject(value as JsonObject);
    return type === 'null' ? value === null : typeof value === type;
}

function matches(pattern: string, value: string): boolean {
    const made = compilePattern(pattern);
    return made.ok && made.pattern.test(value);
}

/** JSON Schema counts code points. */
function lengthOf(text: string): number {
    let length = 0;
    for (const _point of text) length++;
    return length;
}

function isPlain(value: Json): boolean {
    return value === null || typeof value !== 'object';
}
