import type { JsonObject, JsonSchema } from '../../types.ts';
import { collectPlaces, mapSchemas, partsOf, resolveReference } from './places.ts';
import { isObject } from './structure.ts';

/** More than the levels of the deepest schema that a package may have. */
const MAX_LEVELS = 64;

/** Shortens a schema to `maxBytes` of JSON. It still accepts all that it accepted: levels that do not fit become `{}`. */
export function shortenSchema(schema: JsonSchema, maxBytes: number): { schema: JsonSchema; isShortened: boolean } {
    if (fits(schema, maxBytes)) return { schema, isShortened: false };
    for (let levels = Math.min(MAX_LEVELS, depthOf(schema)); levels > 0; levels--) {
        const shortened = withoutLostReferences(cut(schema, levels));
        if (fits(shortened, maxBytes)) return { schema: shortened, isShortened: true };
    }
    return { schema: {}, isShortened: true };
}

function fits(schema: JsonSchema, max: number): boolean {
    return Buffer.byteLength(JSON.stringify(schema)) <= max;
}

/** Keywords that would refuse more values if a schema below them became `{}`. */
const NARROWING: ReadonlySet<string> = new Set(
    'not if then else contains minContains maxContains unevaluatedItems unevaluatedProperties'.split(' '),
);

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

/** A reference to a removed schema becomes `{}`, and so does a reference to that reference. */
function withoutLostReferences(schema: JsonSchema): JsonSchema {
    for (let before = schema; ; ) {
        const places = collectPlaces(before);
        let isChanged = false;
        const change = (one: JsonSchema): JsonSchema => {
            if (!isObject(one)) return one;
            if (typeof one['$ref'] === 'string' && resolveReference(one['$ref'], places) === undefined) {
                isChanged = true;
                return {};
            }
            const parts = Object.entries(one).map(([keyword, value]) => [keyword, mapSchemas(keyword, value, change)]);
            return Object.fromEntries(parts) as JsonObject;
        };
        const after = change(before);
        if (!isChanged) return after;
        before = after;
    }
}

function depthOf(schema: JsonSchema): number {
    if (!isObject(schema)) return 0;
    const below = Object.entries(schema).flatMap(([keyword, value]) => partsOf(keyword, value));
    return 1 + Math.max(0, ...below.map(([, part]) => depthOf(part)));
}
