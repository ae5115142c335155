import { getOrMake } from '../domain/get-or-make.ts';
import { type Batch, type BatchOptions, openBatch } from './batch.ts';

/** Opens separate batches for each key, for as long as items of the key wait or run. So no item waits for a batch of another key. */
export function openBatchByKey<Item, Verdict>(
    options: BatchOptions<Item, Verdict> & { keyOfBatch(item: Item): string },
): Pick<Batch<Item, Verdict>, 'add'> {
    const open = new Map<string, { batch: Batch<Item, Verdict>; items: number }>();
    return {
        async add(item) {
            const key = options.keyOfBatch(item);
            const mine = getOrMake(open, key, () => ({ batch: openBatch(options), items: 0 }));
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
