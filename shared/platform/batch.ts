import { getOrMake } from '../domain/get-or-make.ts';

/** Collects the items of one turn of the event loop. While batches run, the next one grows. Without load, no item waits. */
export interface Batch<Item, Verdict> {
    /**
     * Resolves with the verdict of this item. Rejects with the cause if its batch failed as a whole, with `BatchClosed` after `close()`,
     * and with `WaitedTooLong` if its batch never started. In the last two cases nothing was done.
     */
    add(item: Item): Promise<Verdict>;
    /** Rejects new items. Resolves when all accepted items are settled. */
    close(): Promise<void>;
}

export interface BatchOptions<Item, Verdict> {
    /** Processes all items. Returns the verdicts in the order of the items. */
    run(items: readonly Item[]): Promise<readonly Verdict[]>;
    /** Items with the same key go into separate batches, because the second depends on the first. Absent: items have no keys. */
    keyOf?(item: Item): string;
    /** Whether an error affects the whole batch, like a lost connection. Any other error is caused by one item. Absent: always. */
    failsWholeBatch?(error: unknown): boolean;
    /** Whether a waiting item is rejected with a batch that failed as a whole, because it would fail in the same way. Absent: always. */
    failsWithBatch?(item: Item): boolean;
    /** Maximum number of items in one batch; 500 by default. */
    maxSize?: number;
    /**
     * The size of an item, for example in bytes. The sizes of a batch add up to at most `maxTotal`, unless it has a single item. Absent:
     * only the number of items is limited.
     */
    sizeOf?(item: Item): number;
    maxTotal?: number;
    /** Maximum number of running batches; 2 by default. */
    maxInFlight?: number;
    /** Maximum wait of an item for its batch. Absent: unlimited. */
    maxWaitMs?: number;
}

export class BatchClosed extends Error {}
export class WaitedTooLong extends Error {}

interface WaitingItem<Item, Verdict> {
    item: Item;
    since: number;
    resolve(verdict: Verdict): void;
    reject(error: unknown): void;
}

export function openBatch<Item, Verdict>(options: BatchOptions<Item, Verdict>): Batch<Item, Verdict> {
    const { maxInFlight = 2, maxWaitMs, failsWithBatch = () => true } = options;
    let waiting: WaitingItem<Item, Verdict>[] = [];
    let inFlight = 0;
    let isScheduled = false;
    let isClosed = false;
    const idleWaiters: (() => void)[] = [];
    let expiry: NodeJS.Timeout | undefined;

    return {
        add(item) {
            if (isClosed) return Promise.reject(new BatchClosed('the batch is closed'));
            return new Promise((resolve, reject) => {
                waiting.push({ item, since: performance.now(), resolve, reject });
                schedule();
                watchWaiting();
            });
        },
        async close() {
            isClosed = true;
            if (waiting.length > 0 || inFlight > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve));
            clearTimeout(expiry);
        },
    };

    /** Runs after this turn's I/O, so that a batch includes all requests that arrived together. */
    function schedule(): void {
        if (isScheduled || inFlight >= maxInFlight) return;
        isScheduled = true;
        setImmediate(() => {
            isScheduled = false;
            while (inFlight < maxInFlight && waiting.length > 0) {
                const { batch, left } = takeBatch(waiting, options);
                waiting = left;
                void runBatch(batch);
            }
            resolveIfIdle();
        });
    }

    async function runBatch(batch: WaitingItem<Item, Verdict>[]): Promise<void> {
        inFlight += 1;
        try {
            await settle(batch, options, (error) => rejectWaiting(({ item }) => failsWithBatch(item), error));
        } finally {
            inFlight -= 1;
            if (waiting.length > 0) schedule();
            resolveIfIdle();
        }
    }

    function rejectWaiting(isMeant: (one: WaitingItem<Item, Verdict>) => boolean, cause: unknown): void {
        const meant = waiting.filter(isMeant);
        waiting = waiting.filter((one) => !isMeant(one));
        for (const one of meant) one.reject(cause);
        resolveIfIdle();
    }

    function resolveIfIdle(): void {
        if (waiting.length === 0 && inFlight === 0) for (const notify of idleWaiters.splice(0)) notify();
    }

    function watchWaiting(): void {
        const oldest = waiting[0];
        if (maxWaitMs === undefined || expiry !== undefined || oldest === undefined) return;
        expiry = setTimeout(
            () => {
                expiry = undefined;
                const limit = performance.now() - maxWaitMs;
                rejectWaiting(({ since }) => since <= limit, new WaitedTooLong(`no place in a batch within ${maxWaitMs} ms`));
                watchWaiting();
            },
            Math.max(1, oldest.since + maxWaitMs - performance.now()),
        );
        expiry.unref();
    }
}

/** Takes the first items with different keys whose sizes fit together. */
function takeBatch<Item, Verdict>(
    waiting: WaitingItem<Item, Verdict>[],
    { keyOf, sizeOf, maxSize = 500, maxTotal = Number.POSITIVE_INFINITY }: BatchOptions<Item, Verdict>,
): { batch: WaitingItem<Item, Verdict>[]; left: WaitingItem<Item, Verdict>[] } {
    const taken = new Map<unknown, WaitingItem<Item, Verdict>>();
    const left: WaitingItem<Item, Verdict>[] = [];
    let total = 0;
    for (const one of waiting) {
        // Items without keys all differ.
        const key = keyOf?.(one.item) ?? one;
        const size = sizeOf?.(one.item) ?? 0;
        const fits = taken.size === 0 || (taken.size < maxSize && total + size <= maxTotal);
        if (fits && !taken.has(key)) {
            taken.set(key, one);
            total += size;
        } else left.push(one);
    }
    return { batch: [...taken.values()], left };
}

/**
 * A batch is atomic. If one item causes an error, both halves of the batch run again, until only that item fails.
 * @param onWholeFailure called with an error that affects the whole batch
 */
async function settle<Item, Verdict>(
    batch: WaitingItem<Item, Verdict>[],
    options: BatchOptions<Item, Verdict>,
    onWholeFailure: (error: unknown) => void,
): Promise<void> {
    try {
        const verdicts = await options.run(batch.map((one) => one.item));
        if (verdicts.length !== batch.length) throw new Error(`${verdicts.length} verdicts for ${batch.length} items`);
        for (const [place, one] of batch.entries()) one.resolve(verdicts[place] as Verdict);
    } catch (error) {
        const isWhole = options.failsWholeBatch?.(error) ?? true;
        if (isWhole || batch.length === 1) {
            for (const one of batch) one.reject(error);
            if (isWhole) onWholeFailure(error);
            return;
        }
        const middle = Math.ceil(batch.length / 2);
        await settle(batch.slice(0, middle), options, onWholeFailure);
        await settle(batch.slice(middle), options, onWholeFailure);
    }
}

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
