import type { JsonObject } from '../../types.ts';
import { SCALAR_TYPES } from './keywords.ts';
import { isObject } from './structure.ts';

interface Following {
    /** Resolves a `$ref`. */
    follow(ref: string): unknown;
    /** Schemas that were already checked. References may lead to one schema many times, and in circles. */
    known: Map<JsonObject, ReadonlySet<string> | undefined>;
}

/** The types that a schema allows, if all of them are plain; otherwise `undefined`. */
export function plainTypes(schema: unknown, following: Following): ReadonlySet<string> | undefined {
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
