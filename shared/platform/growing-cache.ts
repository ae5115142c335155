import { LRUCache } from 'lru-cache';

/**
 * Creates an LRU cache that allocates memory as it grows. With `max`, LRUCache allocates 40 bytes for each possible entry at the start.
 * @param max maximum number of entries
 * @param ttlMs milliseconds until an entry expires; absent: never
 * @param now milliseconds; the clock that ages entries, that of LRUCache by default
 */
export function growingCache<Key extends string | number, Value extends object | number | boolean>(
    max: number,
    ttlMs?: number,
    now?: () => number,
): LRUCache<Key, Value> {
    return new LRUCache<Key, Value>({
        maxSize: max,
        sizeCalculation: () => 1,
        ...(ttlMs === undefined ? {} : { ttl: ttlMs }),
        ...(now && { perf: { now }, ttlResolution: 0 }),
    });
}
