import type { Detail, DetailCode } from '../../../refusals.ts';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { escapePointer } from '../json-bounds.ts';
import { type Form, KEYWORDS, PLACING } from './keywords.ts';
import { plainTypes } from './plain-types.ts';
import { isObject, type Places } from './structure.ts';

/**
 * docs/api.md, "Schema packages": maximum depth and size of a schema after every reference is replaced by its target. The outermost schema
 * is at depth 0.
 */
export const MAX_DEPTH = 8;
export const MAX_NODES = 1000;

interface Expansion {
    places: Places;
    nodes: number;
    problem: Detail | undefined;
}

/**
 * Expands a schema: replaces every `$ref` by its target and leaves out keywords that decide nothing. Otherwise returns the first obstacle:
 * a missing target, a cyclic reference, or too many schemas. Expects a schema that passed the structure check.
 */
export function expandSchema(
    schema: JsonSchema,
    places: Places,
): { ok: true; schema: JsonSchema; nodes: number } | { ok: false; problem: Detail } {
    const expansion: Expansion = { places, nodes: 0, problem: undefined };
    const expanded = expand(expansion, schema, { at: '', depth: 0, followed: [''] });
    return expansion.problem === undefined
        ? { ok: true, schema: expanded, nodes: expansion.nodes }
        : { ok: false, problem: expansion.problem };
}

/** The pointer of a local reference; `undefined` if its target is not a schema. */
export function resolveReference(ref: string, places: Places): string | undefined {
    let fragment: string;
    try {
        fragment = decodeURIComponent(ref.slice(1));
    } catch {
        return undefined;
    }
    const pointer = fragment === '' || fragment.startsWith('/') ? fragment : places.anchors.get(fragment);
    return pointer !== undefined && places.schemas.has(pointer) ? pointer : undefined;
}

interface Spot {
    at: string;
    depth: number;
    /** Pointers of the references that led here. Following one of them again would never end. */
    followed: readonly string[];
}

function expand(expansion: Expansion, schema: JsonSchema, spot: Spot): JsonSchema {
    if (expansion.problem !== undefined) return true;
    expansion.nodes++;
    if (spot.depth > MAX_DEPTH) return stop(expansion, spot, 'TOO_COMPLEX', `The JSON Schema is more than ${MAX_DEPTH} schemas deep.`);
    if (expansion.nodes > MAX_NODES) {
        return stop(
            expansion,
            { ...spot, at: '' },
            'TOO_COMPLEX',
            `With its references put in place the JSON Schema has more than ${MAX_NODES} schemas.`,
        );
    }
    if (typeof schema === 'boolean') return schema;
    const kept: [string, Json][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
        const form = KEYWORDS.get(keyword);
        if (form !== undefined && !PLACING.has(keyword)) kept.push([keyword, expandValue(expansion, form, value, below(spot, keyword))]);
    }
    // Object.fromEntries defines an own property `__proto__`; an assignment would set the prototype.
    const out: JsonObject = Object.fromEntries(kept);
    const ref = schema['$ref'];
    if (typeof ref === 'string') out['allOf'] = [...((out['allOf'] as Json[] | undefined) ?? []), follow(expansion, ref, spot)];
    return out['uniqueItems'] === true ? withTypedItems(out) : out;
}

/** The validator compares items in one pass only if their `type` says that they are plain values. Otherwise it compares every pair. */
function withTypedItems(schema: JsonObject): JsonObject {
    const { items } = schema;
    if (!isObject(items) || typesOf({ type: items['type'] ?? null }) !== undefined) return schema;
    const types = typesOf(items);
    return types === undefined ? schema : { ...schema, items: { type: [...types], allOf: [items] } };
}

/** Expects a schema whose references have been replaced. */
function typesOf(schema: JsonObject): ReadonlySet<string> | undefined {
    return plainTypes(schema, { known: new Map(), follow: () => undefined });
}

function follow(expansion: Expansion, ref: string, spot: Spot): JsonSchema {
    const at = `${spot.at}/$ref`;
    const target = resolveReference(ref, expansion.places);
    if (target === undefined) return stop(expansion, { ...spot, at }, 'INVALID_VALUE', 'This $ref points to no schema of the document.');
    if (spot.followed.includes(target))
        return stop(expansion, { ...spot, at }, 'TOO_COMPLEX', 'This $ref is recursive: a schema may not reach itself.');
    return expand(expansion, expansion.places.schemas.get(target) ?? true, {
        at: target,
        depth: spot.depth,
        followed: [...spot.followed, target],
    });
}

function expandValue(expansion: Expansion, form: Form, value: Json, spot: Spot): Json {
    if (form === 'schema') return expand(expansion, value as JsonSchema, spot);
    if (form === 'schemas' && Array.isArray(value)) {
        return value.map((item, index) => expand(expansion, item as JsonSchema, { ...spot, at: `${spot.at}/${index}` }));
    }
    if (form === 'schema map' || form === 'pattern map') {
        const entries = Object.entries(value as JsonObject);
        return Object.fromEntries(
            entries.map(([key, item]) => [key, expand(expansion, item as JsonSchema, { ...spot, at: `${spot.at}/${escapePointer(key)}` })]),
        );
    }
    return value;
}

function below(spot: Spot, keyword: string): Spot {
    return { at: `${spot.at}/${keyword}`, depth: spot.depth + 1, followed: spot.followed };
}

function stop(expansion: Expansion, spot: Spot, code: DetailCode, message: string): JsonSchema {
    expansion.problem ??= { path: spot.at, code, message };
    return true;
}
