import { canonicalNumber } from '../../shared/domain/json/decimals.ts';
import { isExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';

/** A copy of a value with sorted keys and each number in one spelling, so that equal values have equal texts. The allowed nesting of answers bounds the recursion. */
export function withSortedKeys(value: Json): Json {
    if (isExact(value)) return canonicalNumber(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(withSortedKeys);
    const keys = Object.keys(value).sort();
    return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key] ?? null)]));
}
