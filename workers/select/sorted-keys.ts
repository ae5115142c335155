import { isExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';

/** A copy of a value in which the order of keys says nothing. Recursion is bounded by the levels that an answer may have. */
export function withSortedKeys(value: Json): Json {
    if (typeof value !== 'object' || value === null || isExact(value)) return value;
    if (Array.isArray(value)) return value.map(withSortedKeys);
    const keys = Object.keys(value).sort();
    return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key] ?? null)]));
}
