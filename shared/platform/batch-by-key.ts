import { type Batch, type BatchOptions, openBatch } from './batch.ts';

/** Batches of their own for each key, as long as something of it waits or is under way: none waits for another key's. */
export function openBatchByKey<Item, Verdict>(
    options: BatchOptions<Item, Verdict> & { keyOfBatch(item: Item): string },
): Pick<Batch<Item, Verdict>, 'add'> {
    const open = new Map<string, { batch: Batch<Item, Verdict>; items: number }>();
    return {
        async add(item) {
            const key = options.keyOfBatch(item);
            const mine = open.get(key) ?? { batch: openBatch(options), items: 0 };
            open.set(key, mine);
            mine.items += 1;
            try {
                return await mine.batch.add(item);
            } finally {
                mine.items -= 1;
                if (mine.items === 0) open.delete(key);
            }
        },
    };
}
