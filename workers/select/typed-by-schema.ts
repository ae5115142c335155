import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { valueIn } from '../../shared/domain/json/value-in.ts';
import type { Json, JsonObject, JsonSchema } from '../../shared/domain/types.ts';

/** No schema of a package refers on more often. */
const MAX_REFERENCES = 32;

/**
 * The value with numbers and booleans in place of the texts that a schema wants as such. A text that is none stays, so that the schema
 * refuses it; an empty one is null if the schema takes null. Numbers keep their digits.
 */
export function typedBy(schema: JsonSchema | undefined, value: Json, whole: JsonSchema | undefined = schema): Json {
    const rules = resolveReference(schema, whole);
    if (rules === undefined) return value;
    if (typeof value === 'string') return typedScalar(value, rules['type']);
    if (Array.isArray(value)) return value.map((item) => typedBy(schemaIn(rules, 'items'), item, whole));
    if (!isObject(value)) return value;
    const properties = isObject(rules['properties']) ? rules['properties'] : {};
    const rest = schemaIn(rules, 'additionalProperties');
    const typed = Object.entries(value).map(([name, one]): [string, Json] => [
        name,
        typedBy(Object.hasOwn(properties, name) ? (properties[name] as JsonSchema) : rest, one as Json, whole),
    ]);
    return Object.fromEntries(typed);
}

function schemaIn(rules: JsonObject, keyword: string): JsonSchema | undefined {
    return valueIn(rules, keyword) as JsonSchema | undefined;
}

/** The schema behind references into the same document. */
function resolveReference(schema: JsonSchema | undefined, whole: JsonSchema | undefined): JsonObject | undefined {
    let here: Json | undefined = schema;
    for (let i = 0; i < MAX_REFERENCES && isObject(here) && typeof here['$ref'] === 'string'; i++) here = at(whole, here['$ref']);
    return isObject(here) ? (here as JsonObject) : undefined;
}

function at(whole: Json | undefined, pointer: string): Json | undefined {
    if (!pointer.startsWith('#/')) return undefined;
    let here = whole;
    for (const step of pointer.slice(2).split('/')) {
        here = isObject(here) ? valueIn(here as JsonObject, step.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined;
    }
    return here;
}

function typedScalar(text: string, said: Json | undefined): Json {
    const types = Array.isArray(said) ? said : [said];
    if (types.includes('string')) return text;
    const trimmed = text.trim();
    if (trimmed === '' && types.includes('null')) return null;
    if (types.includes('number') || types.includes('integer')) {
        const literal = literalOf(trimmed);
        if (literal !== undefined) return parseExact(literal);
    }
    if (types.includes('boolean') && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
    return text;
}

/** A number as JSON writes it, of one that may have a plus, zeros before it, or nothing on one side of its point. */
function literalOf(text: string): string | undefined {
    const [, sign, digits = '', fraction = '', exponent = ''] = /^([+-])?(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? [];
    if (digits === '' && fraction === '') return undefined;
    const whole = digits.replace(/^0+(?=\d)/, '');
    const tail = `${fraction === '' ? '' : `.${fraction}`}${exponent === '' ? '' : `e${exponent}`}`;
    const literal = `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${tail}`;
    return Number.isFinite(Number(literal)) ? literal : undefined;
}
