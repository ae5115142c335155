import { percentDecode } from '../../text/percent-decode.ts';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { escapePointer } from '../json-bounds.ts';
import { KEYWORDS } from './keywords.ts';
import { isObject } from './structure.ts';

interface ShortenedSchema {
    schema: JsonSchema;
    isShortened: boolean;
}

/** Levels of the deepest schema that a package may have, and more. */
const MOST_LEVELS = 64;

/**
 * A schema of at most `mostBytes` of JSON that still accepts whatever the whole one does: the deepest levels that do not fit become `{}`.
 * @param schema one that a package may have
 */
export function shortenSchema(schema: JsonSchema, mostBytes: number): ShortenedSchema {
    if (fits(schema, mostBytes)) return { schema, isShortened: false };
    for (let levels = Math.min(MOST_LEVELS, depthOf(schema)); levels > 0; levels--) {
        const shortened = withoutLostReferences(cut(schema, levels));
        if (fits(shortened, mostBytes)) return { schema: shortened, isShortened: true };
    }
    return { schema: {}, isShortened: true };
}

function fits(schema: JsonSchema, most: number): boolean {
    return Buffer.byteLength(JSON.stringify(schema)) <= most;
}

/** Keywords that would refuse more if a schema below became `{}`. */
const NARROWING: ReadonlySet<string> = new Set([
    'not',
    'if',
    'then',
    'else',
    'contains',
    'minContains',
    'maxContains',
    'unevaluatedItems',
    'unevaluatedProperties',
]);

function cut(schema: JsonSchema, levels: number): JsonSchema {
    if (!isObject(schema)) return schema;
    if (levels === 0) return {};
    const kept: JsonObject = {};
    for (const [keyword, value] of Object.entries(schema)) {
        if (NARROWING.has(keyword)) continue;
        // Of several schemas one may become equal to another one.
        if (keyword === 'oneOf' && schema['anyOf'] !== undefined) continue;
        kept[keyword === 'oneOf' ? 'anyOf' : keyword] = mapSchemas(keyword, value, (below) => cut(below, levels - 1));
    }
    return kept;
}

/** The value of a keyword with each schema in it changed. */
function mapSchemas(keyword: string, value: Json, change: (schema: JsonSchema) => JsonSchema): Json {
    switch (KEYWORDS.get(keyword)) {
        case 'schema':
            return change(value as JsonSchema);
        case 'schemas':
            return (value as JsonSchema[]).map(change);
        case 'schema map':
        case 'pattern map':
            return Object.fromEntries(Object.entries(value as JsonObject).map(([key, below]) => [key, change(below as JsonSchema)]));
        default:
            return value;
    }
}

/** A reference to what was cut away becomes `{}`, and so does a reference to that. */
function withoutLostReferences(schema: JsonSchema): JsonSchema {
    for (let before = schema; ; ) {
        const known = new Set(['#']);
        collectPlaces(before, '#', known);
        let isChanged = false;
        const change = (one: JsonSchema): JsonSchema => {
            if (!isObject(one)) return one;
            if (typeof one['$ref'] === 'string' && !known.has(percentDecode(one['$ref']))) {
                isChanged = true;
                return {};
            }
            return Object.fromEntries(Object.entries(one).map(([keyword, value]) => [keyword, mapSchemas(keyword, value, change)]));
        };
        const after = change(before);
        if (!isChanged) return after;
        before = after;
    }
}

function collectPlaces(schema: JsonSchema, at: string, known: Set<string>): void {
    known.add(at);
    if (!isObject(schema)) return;
    if (typeof schema['$anchor'] === 'string') known.add(`#${schema['$anchor']}`);
    for (const [keyword, value] of Object.entries(schema)) {
        const place = `${at}/${escapePointer(keyword)}`;
        const form = KEYWORDS.get(keyword);
        if (form === 'schema') collectPlaces(value as JsonSchema, place, known);
        if (form === 'schemas' || form === 'schema map' || form === 'pattern map') {
            for (const [key, below] of Object.entries(value as JsonObject)) {
                collectPlaces(below as JsonSchema, `${place}/${escapePointer(key)}`, known);
            }
        }
    }
}

function depthOf(schema: JsonSchema): number {
    let deepest = 0;
    if (!isObject(schema)) return 0;
    for (const [keyword, value] of Object.entries(schema)) {
        mapSchemas(keyword, value, (below) => {
            deepest = Math.max(deepest, depthOf(below));
            return below;
        });
    }
    return deepest + 1;
}
