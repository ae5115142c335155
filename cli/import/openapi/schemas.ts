import { TYPES } from '../../../shared/domain/json/schema/keywords.ts';
import { compilePattern } from '../../../shared/domain/json/schema/patterns.ts';
import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Json, JsonObject, JsonSchema } from '../../../shared/domain/types.ts';
import { isFit } from './plain-schema.ts';
import { createResolver, type Resolver } from './refs.ts';

/**
 * Follows the references of a document, and converts its schemas of OpenAPI 3.0 and 3.1 to schemas of a package (docs/api.md, "Schema
 * packages"): without references, and limited in depth and size.
 */
export interface DocumentReader extends Resolver {
    /** The schema of a request value: with limits such as `maxLength` and defaults, without read-only fields. */
    ofRequest(schema: Json | undefined, nodes?: number): JsonSchema;
    /** The schema of an answer: only types and names, since servers add enum values and fields later. */
    ofAnswer(schema: Json | undefined): JsonSchema;
}

/** The state of the conversion of one schema, and its current position. */
interface Conversion {
    resolver: Resolver;
    /** Whether a package may have this pattern. */
    isSound(pattern: string): boolean;
    side: 'request' | 'answer';
    /** Schemas that may still be converted. */
    left: number;
    /** References followed so far. A reference to one of them is recursive. */
    followed: readonly string[];
    level: number;
}

/** One level less than allowed, since an answer that is a list is wrapped in an object. */
const MAX_LEVEL = 6;
const MAX_PROPERTIES = 120;
const MAX_ALTERNATIVES = 12;
/** Room for the codes of all countries. */
const MAX_ENUM = 300;
/** Maximum number of instructions of all patterns of a package together. The rules allow 30,000. */
const MAX_INSTRUCTIONS = 20_000;
const FORMATS: ReadonlySet<string> = new Set(['date', 'date-time', 'time', 'uuid', 'email', 'uri', 'ipv4', 'ipv6']);
/** Names of members that no package may have. */
export const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Creates the reader of one document. All patterns of the document share one budget. */
export function createReader(document: JsonObject): DocumentReader {
    const resolver = createResolver(document);
    const isSound = createPatternCheck();
    const read = (schema: Json | undefined, side: Conversion['side'], left: number) =>
        convert(schema, { resolver, isSound, side, left, followed: [], level: 0 });
    return {
        ...resolver,
        ofRequest: (schema, nodes = 60) => read(schema, 'request', nodes),
        ofAnswer: (schema) => read(schema, 'answer', 250),
    };
}

function convert(schema: Json | undefined, place: Conversion): JsonSchema {
    place.left--;
    if (typeof schema === 'boolean') return schema ? {} : { not: {} };
    if (!isObject(schema)) return {};
    const { resolver, side, followed } = place;
    const ref = schema['$ref'];
    const isEnd = place.left < 0 || place.level > MAX_LEVEL || (typeof ref === 'string' && followed.includes(ref));
    // Nothing is required of the deep levels of an answer.
    if (isEnd) return side === 'request' ? typeOf(typesOf(resolver.resolve(schema) ?? {})) : {};
    const made =
        typeof ref === 'string' ? convertPart(place, resolver.target(ref), { followed: [...followed, ref] }) : composed(schema, place);
    // Generators write `nullable` beside `$ref`, `allOf` and `anyOf`, whose own types have no null.
    return isNullable(schema) ? orNull(made) : made;
}

/** Converts a part of a schema within the same budget of nodes. */
function convertPart(place: Conversion, schema: Json | undefined, changes: Partial<Conversion>): JsonSchema {
    const inner = { ...place, ...changes };
    const made = convert(schema, inner);
    place.left = inner.left;
    return made;
}

function convertBelow(place: Conversion, schema: Json | undefined): JsonSchema {
    return convertPart(place, schema, { level: place.level + 1 });
}

function composed(schema: JsonObject, place: Conversion): JsonSchema {
    const out = ownKeywords(schema, place);
    const alternatives = [schema['oneOf'], schema['anyOf']].find(Array.isArray);
    if (alternatives !== undefined) Object.assign(out, anyOf(alternatives, schema['discriminator'], place));
    const parts = schema['allOf'];
    if (!Array.isArray(parts)) return out;
    for (const part of parts.slice(0, MAX_ALTERNATIVES)) {
        const made = convertPart(place, part, {});
        if (isObject(made)) mergeInto(out, made);
    }
    return place.side === 'request' ? withRequired(out, [schema, ...parts], place) : out;
}

/** A part of `allOf` often requires what another part describes. */
function withRequired(whole: JsonObject, parts: readonly Json[], { resolver }: Conversion): JsonObject {
    const names = parts.flatMap((part) => [resolver.resolve(part)?.['required'] ?? []].flat());
    const needed = onlyKnown([whole['required'] ?? [], names].flat(2), new Set(Object.keys(objectOf(whole['properties']))));
    return needed.length === 0 ? whole : { ...whole, required: needed };
}

function ownKeywords(schema: JsonObject, place: Conversion): JsonObject {
    const types = typesOf(schema);
    const out = typeOf(types);
    if (place.side === 'request') {
        Object.assign(out, boundsOf(schema), choicesOf(schema, types), textRules(schema, place.isSound));
        Object.assign(out, standardOf(schema, out));
    }
    const { items, properties, additionalProperties, required } = schema;
    if (isObject(items)) out['items'] = convertBelow(place, items);
    if (isObject(properties)) Object.assign(out, propertiesOf(properties, required, place));
    else if (isObject(additionalProperties)) out['additionalProperties'] = convertBelow(place, additionalProperties);
    return out;
}

function propertiesOf(properties: JsonObject, required: Json | undefined, place: Conversion): JsonObject {
    const { resolver, side } = place;
    const hidden = side === 'request' ? 'readOnly' : 'writeOnly';
    const kept = Object.entries(properties)
        .filter(([key, value]) => !UNSAFE_KEYS.has(key) && resolver.resolve(value)?.[hidden] !== true)
        .slice(0, MAX_PROPERTIES);
    // Some servers omit fields that have a default, so an answer does not require them.
    const given = kept.filter(([, value]) => side === 'request' || resolver.resolve(value)?.['default'] === undefined);
    const needed = onlyKnown(required, new Set(given.map(([key]) => key)));
    return {
        ...(needed.length > 0 ? { required: needed } : {}),
        ...(kept.length > 0 && place.left > 0
            ? { properties: Object.fromEntries(kept.map(([key, value]) => [key, convertBelow(place, value)])) }
            : {}),
    };
}

function anyOf(alternatives: Json[], discriminator: Json | undefined, place: Conversion): JsonObject {
    if (alternatives.length > MAX_ALTERNATIVES) return {};
    const made = alternatives.map((alternative) => {
        const one = convertBelow(place, alternative);
        return place.side === 'request' ? withDiscriminator(one, alternative, discriminator) : one;
    });
    // If one alternative allows any value, so do all together.
    if (made.length === 0 || made.some((one) => one === true || (isObject(one) && Object.keys(one).length === 0))) return {};
    const [only] = made;
    return made.length === 1 && isObject(only) ? only : { anyOf: made };
}

/** Requires the discriminator of a request's alternative, with the values that the document maps to it. */
function withDiscriminator(made: JsonSchema, alternative: Json, discriminator: Json | undefined): JsonSchema {
    const { propertyName: key, mapping } = objectOf(discriminator);
    const ref = isObject(alternative) ? alternative['$ref'] : undefined;
    if (typeof key !== 'string' || UNSAFE_KEYS.has(key) || typeof ref !== 'string' || !isObject(made)) return made;
    const name = ref.split('/').at(-1) ?? '';
    const mapped = Object.entries(objectOf(mapping)).flatMap(([value, to]) => (to === ref || to === name ? [value] : []));
    const properties = objectOf(made['properties']);
    const known = isObject(properties[key]) ? properties[key] : { type: 'string' };
    const names = [...new Set([...mapped, name])];
    const isText = known['type'] === undefined || [known['type']].flat().includes('string');
    const choices = Array.isArray(known['enum']) ? known['enum'].filter((value) => names.includes(String(value))) : isText ? names : [];
    if (choices.length === 0 || known['const'] !== undefined) return made;
    const required = listOf(made['required']);
    return {
        ...made,
        required: [...new Set([...required, key])],
        properties: { ...properties, [key]: { ...known, enum: choices } },
    };
}

/** Adds a part of `allOf`. `properties` and `required` are combined; for other keywords the first value counts. */
function mergeInto(schema: JsonObject, part: JsonObject): void {
    for (const [key, value] of Object.entries(part)) {
        const known = schema[key];
        if (known === undefined) schema[key] = value;
        else if (key === 'properties' && isObject(known) && isObject(value)) schema[key] = { ...known, ...value };
        else if (key === 'required' && Array.isArray(known) && Array.isArray(value)) schema[key] = [...new Set([...known, ...value])];
    }
}

function onlyKnown(list: Json | undefined, known: ReadonlySet<string>): string[] {
    const names = Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string' && known.has(name)) : [];
    return [...new Set(names)];
}

/** Whether null is allowed, as OpenAPI 3.0 and generators for Swagger 2.0 say it. */
function isNullable(schema: JsonObject): boolean {
    return schema['nullable'] === true || schema['x-nullable'] === true;
}

function orNull(schema: JsonSchema): JsonSchema {
    if (!isObject(schema)) return schema;
    const { type, enum: choices, anyOf } = schema;
    return {
        ...schema,
        ...(type === undefined ? {} : { type: [...new Set([type, 'null'].flat())] }),
        ...(Array.isArray(choices) ? { enum: [...new Set([...choices, null])] } : {}),
        ...(Array.isArray(anyOf) ? { anyOf: [...anyOf, { type: 'null' }] } : {}),
    };
}

/** The types of a schema as JSON Schema 2020-12 names them. `nullable` of OpenAPI 3.0 becomes the type `null`. */
export function typesOf(schema: JsonObject): string[] {
    const { type } = schema;
    const named = (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === 'string' && TYPES.has(one));
    const guessed =
        named.length > 0 || type !== undefined
            ? named
            : isObject(schema['properties'])
              ? ['object']
              : isObject(schema['items'])
                ? ['array']
                : [];
    return [...new Set(isNullable(schema) && guessed.length > 0 ? [...guessed, 'null'] : guessed)];
}

function typeOf(types: string[]): JsonObject {
    const [only] = types;
    return only === undefined ? {} : { type: types.length === 1 ? only : types };
}

function boundsOf(schema: JsonObject): JsonObject {
    const out: JsonObject = {};
    for (const key of ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']) {
        const value = schema[key];
        if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) out[key] = value;
    }
    for (const [key, exclusive] of [
        ['minimum', 'exclusiveMinimum'],
        ['maximum', 'exclusiveMaximum'],
    ] as const) {
        const [bound, edge] = [schema[key], schema[exclusive]];
        if (typeof edge === 'number') out[exclusive] = edge;
        if (typeof bound === 'number') out[edge === true ? exclusive : key] = bound;
    }
    return out;
}

function choicesOf(schema: JsonObject, types: readonly string[]): JsonObject {
    if (Object.hasOwn(schema, 'const')) return { const: schema['const'] ?? null };
    const { enum: choices } = schema;
    if (!Array.isArray(choices) || choices.length === 0 || choices.length > MAX_ENUM) return {};
    const plain = choices.filter((choice) => typeof choice !== 'object' || choice === null);
    const withNull = types.includes('null') && !plain.includes(null) ? [...plain, null] : plain;
    return plain.length === choices.length ? { enum: withNull } : {};
}

/** What the site assumes if the value is absent. In a schema it only informs: nothing sends it. */
function standardOf({ default: value }: JsonObject, made: JsonObject): JsonObject {
    return isFit(value, made) && findSecrets(String(value)) === undefined ? { default: value } : {};
}

function textRules(schema: JsonObject, isSound: (pattern: string) => boolean): JsonObject {
    const { format, pattern } = schema;
    const out: JsonObject = {};
    if (typeof format === 'string' && FORMATS.has(format) && typesOf(schema).includes('string')) out['format'] = format;
    if (typeof pattern === 'string' && isSound(pattern)) out['pattern'] = pattern;
    return out;
}

/** Creates the check of a document's patterns: whether one compiles and all of them together stay within the budget. */
function createPatternCheck(): (pattern: string) => boolean {
    const known = new Map<string, boolean>();
    let instructions = 0;
    return (pattern) => {
        const verdict = known.get(pattern);
        if (verdict !== undefined) return verdict;
        const made = known.size < 300 ? compilePattern(pattern) : undefined;
        const isSound = made?.ok === true && made.size <= 400 && instructions + made.size <= MAX_INSTRUCTIONS;
        if (isSound) instructions += made.size;
        known.set(pattern, isSound);
        return isSound;
    };
}
