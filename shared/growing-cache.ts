import { LRUCache } from 'lru-cache';

/**
 * Remembers at most so many entries, those used last, and takes memory only for what it holds: with a `max` LRUCache makes room for all
 * of them at once, 40 bytes each.
 * @param ttlMs milliseconds after which an entry is forgotten; without it only for want of room
 */
export function growingCache<Key extends string | number, Value extends object | number | boolean>(
    most: number,
    ttlMs?: number,
): LRUCache<Key, Value> {
    return new LRUCache<Key, Value>({ maxSize: most, sizeCalculation: () => 1, ...(ttlMs === undefined ? {} : { ttl: ttlMs }) });
}
