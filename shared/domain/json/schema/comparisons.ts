import type { Detail } from '../../../refusals.ts';
import type { JsonObject, JsonSchema } from '../../types.ts';
import { SCALAR_TYPES } from './keywords.ts';
import { resolveReference } from './places.ts';
import type { Places } from './structure.ts';
import { isObject } from './structure.ts';

const MAX_PROBLEMS = 50;
const PLAIN = 'plain values: say so by type (string, number, integer, boolean or null), const or enum';

/** Comparing each item with all others, or with a whole schema, takes quadratic time unless the items are plain values. */
export function checkComparisons(places: Places): Detail[] {
    const known = new Map<JsonObject, ReadonlySet<string> | undefined>();
    const isPlain = (schema: unknown) =>
        plainTypes(schema, { known, follow: (ref) => places.schemas.get(resolveReference(ref, places) ?? '-') }) !== undefined;
    const problems: Detail[] = [];
    for (const [at, schema] of places.schemas) {
        if (problems.length >= MAX_PROBLEMS) break;
        for (const keyword of comparing(schema, isPlain))
            problems.push({ path: `${at}/${keyword}`, code: 'TOO_COMPLEX', message: `${keyword} in a param needs ${PLAIN}.` });
    }
    return problems;
}

/** The keywords of a schema that compare values which may be other than plain values. */
function comparing(schema: JsonSchema, isPlain: (schema: unknown) => boolean): string[] {
    if (typeof schema === 'boolean') return [];
    const { uniqueItems, items, prefixItems = [] } = schema;
    const areUnique = uniqueItems === true && !(isPlain(items) && Array.isArray(prefixItems) && prefixItems.every(isPlain));
    const isContained = Object.hasOwn(schema, 'contains') && !isPlain(schema['contains']);
    return [...(areUnique ? ['uniqueItems'] : []), ...(isContained ? ['contains'] : [])];
}

interface Following {
    follow(ref: string): unknown;
    /** Schemas that were already checked. References may lead to one schema many times, and in circles. */
    known: Map<JsonObject, ReadonlySet<string> | undefined>;
}

/** The types that a schema allows, if all of them are plain; otherwise `undefined`. */
function plainTypes(schema: unknown, following: Following): ReadonlySet<string> | undefined {
    if (!isObject(schema)) return undefined;
    const { known } = following;
    if (!known.has(schema)) {
        known.set(schema, undefined);
        known.set(schema, check(schema, following));
    }
    return known.get(schema);
}

/** Every keyword only restricts the result of the others, so one keyword that requires plain types is sufficient. */
function check(schema: JsonObject, following: Following): ReadonlySet<string> | undefined {
    const { type, anyOf, oneOf, allOf, $ref } = schema;
    const inside = (one: unknown) => plainTypes(one, following);
    const sources: (() => ReadonlySet<string> | undefined)[] = [
        () => (type === undefined ? undefined : allPlain(Array.isArray(type) ? type : [type])),
        () => (Object.hasOwn(schema, 'const') ? allPlain([typeOf(schema['const'])]) : undefined),
        () => (Array.isArray(schema['enum']) ? allPlain(schema['enum'].map(typeOf)) : undefined),
        () => union(anyOf, inside),
        () => union(oneOf, inside),
        () => (Array.isArray(allOf) ? allOf.map(inside).find((types) => types !== undefined) : undefined),
        () => (typeof $ref === 'string' ? inside(following.follow($ref)) : undefined),
    ];
    for (const way of sources) {
        const types = way();
        if (types !== undefined) return types;
    }
    return undefined;
}

function allPlain(types: readonly unknown[]): ReadonlySet<string> | undefined {
    const plain = types.filter((type): type is string => typeof type === 'string' && SCALAR_TYPES.has(type));
    return plain.length > 0 && plain.length === types.length ? new Set(plain) : undefined;
}

function union(schemas: unknown, inside: (schema: unknown) => ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
    if (!Array.isArray(schemas)) return undefined;
    const types = schemas.map(inside);
    return types.includes(undefined) ? undefined : allPlain([...new Set(types.flatMap((one) => [...(one ?? [])]))]);
}

function typeOf(value: unknown): string {
    return value === null ? 'null' : typeof value;
}
