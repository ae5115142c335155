import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject, objectOf } from '../../shared/domain/json/schema/structure.ts';
import { valueIn } from '../../shared/domain/json/value-in.ts';
import type { Json, JsonObject, JsonSchema } from '../../shared/domain/types.ts';

/** The longest chain of references that is followed. Schemas of packages are never longer. */
const MAX_REFERENCES = 32;

/**
 * Converts texts to the numbers and booleans that a schema expects. A text that cannot be converted stays, so that validation rejects it.
 * An empty text becomes null if the schema allows null. Numbers keep their digits.
 */
export function typedBy(schema: JsonSchema | undefined, value: Json, whole: JsonSchema | undefined = schema): Json {
    const rules = resolveReference(schema, whole);
    if (rules === undefined) return value;
    if (typeof value === 'string') return typedScalar(value, rules['type']);
    if (Array.isArray(value)) return value.map((item) => typedBy(schemaIn(rules, 'items'), item, whole));
    if (!isObject(value)) return value;
    const properties = objectOf(rules['properties']);
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

/** Follows the schema's references within the same document. */
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

/** A number in the format of JSON. The text may have a plus, leading zeros, or no digits on one side of its point. */
function literalOf(text: string): string | undefined {
    const [, sign, digits = '', fraction = '', exponent = ''] = /^([+-])?(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? [];
    if (digits === '' && fraction === '') return undefined;
    const whole = digits.replace(/^0+(?=\d)/, '');
    const tail = `${fraction === '' ? '' : `.${fraction}`}${exponent === '' ? '' : `e${exponent}`}`;
    const literal = `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${tail}`;
    return Number.isFinite(Number(literal)) ? literal : undefined;
}
