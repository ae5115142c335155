import { hash } from 'node:crypto';
import { canonicalNumber } from '../../shared/domain/json/decimals.ts';
import { isExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';
import { searchJson } from './json.ts';

/**
 * Removes items whose ids are among `known` or occur earlier in the list. An item without an id stays.
 * @param unique.id `pagination.unique`
 * @param unique.maxIds the largest number of ids to return, since a walk ends with this number of results
 * @param unique.left the number of items that the call may still have
 * @returns the items, and `cutAt`, the index of the first item beyond `left`
 * @throws InvalidResponse when the expression fails
 */
export function withoutRepeats(
    items: readonly Json[],
    { id, known, maxIds, left }: { id: string; known: readonly string[]; maxIds: number; left: number },
): { items: Json[]; ids: string[]; cutAt: number | undefined } {
    const seen = new Set(known);
    const ids: string[] = [];
    // One expression for all items. `map` keeps nulls, so the indexes of ids and items agree.
    const found = searchJson([...items], `map(&${id}, @)`, '/pagination/unique') as Json[];
    const isNew = (index: number): boolean => {
        const value = found[index] ?? null;
        if (value === null) return true;
        const key = keyOf(value);
        if (seen.has(key)) return false;
        seen.add(key);
        if (ids.length < maxIds) ids.push(key);
        return true;
    };
    const kept: Json[] = [];
    let cutAt: number | undefined;
    for (const [index, item] of items.entries()) {
        if (!isNew(index)) continue;
        if (kept.length === left) cutAt = index;
        kept.push(item);
    }
    return { items: kept, ids, cutAt };
}

/** Length of a SHA-256 in Base64. */
const HASH = 44;

/** An id as text. A long id is hashed; its hash follows a `#`, with which no JSON begins. */
export function keyOf(value: Json): string {
    const text = JSON.stringify(withSortedKeys(value));
    return text.length <= HASH ? text : `#${hash('sha256', text, 'base64')}`;
}

/**
 * A copy of a value with sorted keys and each number in one spelling, so that equal values have equal texts. The allowed nesting of answers
 * bounds the recursion.
 */
export function withSortedKeys(value: Json): Json {
    if (isExact(value)) return canonicalNumber(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(withSortedKeys);
    const keys = Object.keys(value).sort();
    return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key] ?? null)]));
}
