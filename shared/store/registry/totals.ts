import { LRUCache } from 'lru-cache';
import { runPlanned } from '../../platform/prepared-query.ts';
import type { Read } from '../../platform/replica.ts';

type Count = Parameters<typeof runPlanned>[1];

const MAX_MS = 60_000;

/**
 * Counts the rows of lists. Equal counts share a query while it runs. A total above `many` is cached: of n thousand rows for n seconds, up
 * to a minute.
 * @param read must limit the time of queries
 */
export function createTotals(read: Read, many: number): (count: Count) => Promise<number> {
    const known = new LRUCache<string, number>({ max: 1000 });
    const running = new Map<string, Promise<number>>();

    async function countNow(key: string, count: Count): Promise<number> {
        const [row] = await read((db) => runPlanned<{ total: number }>(db, count));
        const total = row?.total ?? 0;
        if (total > many) known.set(key, total, { ttl: Math.min(MAX_MS, total) });
        return total;
    }

    return async (count) => {
        const key = JSON.stringify([count.text, count.values]);
        const counting = known.get(key) ?? running.get(key) ?? countNow(key, count).finally(() => running.delete(key));
        if (typeof counting !== 'number') running.set(key, counting);
        return counting;
    };
}
