import { percentDecode } from '../../text/percent-decode.ts';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { escapePointer } from '../json-bounds.ts';
import { KEYWORDS } from './keywords.ts';
import { isObject } from './structure.ts';

interface ShortenedSchema {
    schema: JsonSchema;
    isShortened: boolean;
}

/** More than the levels of the deepest schema that a package may have. */
const MAX_LEVELS = 64;

/**
 * Shortens a schema to at most `mostBytes` of JSON. The result still accepts every value that the original accepts: the deepest levels that
 * do not fit become `{}`.
 * @param schema one that a package may have
 */
export function shortenSchema(schema: JsonSchema, mostBytes: number): ShortenedSchema {
    if (fits(schema, mostBytes)) return { schema, isShortened: false };
    for (let levels = Math.min(MAX_LEVELS, depthOf(schema)); levels > 0; levels--) {
        const shortened = withoutLostReferences(cut(schema, levels));
        if (fits(shortened, mostBytes)) return { schema: shortened, isShortened: true };
    }
    return { schema: {}, isShortened: true };
}

function fits(schema: JsonSchema, most: number): boolean {
    return Buffer.byteLength(JSON.stringify(schema)) <= most;
}

/** Keywords that would refuse more values if a schema below them became `{}`. */
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
        // Several schemas in `oneOf` may become equal after the cut.
        if (keyword === 'oneOf' && schema['anyOf'] !== undefined) continue;
        kept[keyword === 'oneOf' ? 'anyOf' : keyword] = mapSchemas(keyword, value, (below) => cut(below, levels - 1));
    }
    return kept;
}

/** Applies `change` to each schema in the value of a keyword. */
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

/** A reference to a removed schema becomes `{}`, and so does a reference to that reference. */
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
