/**
 * Items of one turn of the event loop form one batch. While batches are in flight the next one grows, so batches grow when the server
 * is slow. Without load no item waits.
 */
export interface Batch<Item, Verdict> {
    /**
     * Resolves with this item's own verdict. Rejects with the cause when its batch failed as a whole, with `BatchClosed` after
     * `close()`, and with `WaitedTooLong` when it never left; in both of these nothing was done.
     */
    add(item: Item): Promise<Verdict>;
    /** Rejects matching items that wait. */
    turnAway(isMeant: (item: Item) => boolean, cause: unknown): void;
    /** Accepts no more items, and resolves when all accepted items are settled. */
    close(): Promise<void>;
}

export interface BatchOptions<Item, Verdict> {
    /** Does the work of all items; verdicts in the order of the items. */
    run(items: readonly Item[]): Promise<readonly Verdict[]>;
    /** Items with the same key go into separate batches, because the second depends on the first. Absent: no keys. */
    keyOf?(item: Item): string;
    /** Whether an error affects the whole batch, such as a lost connection. Any other error is the fault of one item. Absent: always. */
    isCommonFate?(error: unknown): boolean;
    /** Whether a waiting item fails with a batch that failed as a whole. It would fail alike, but later. Absent: every item. */
    sharesFate?(item: Item): boolean;
    /** Items in one batch; 500 by default. */
    maxSize?: number;
    /** The size of an item, such as its bytes. A batch has at most `maxTotal` of it, or a single item. Absent: only items are counted. */
    sizeOf?(item: Item): number;
    maxTotal?: number;
    /** Batches in flight; 2 by default. */
    maxInFlight?: number;
    /** Longest wait for a place in a batch, in milliseconds. Absent: unlimited. */
    maxWaitMs?: number;
}

export class BatchClosed extends Error {}
export class WaitedTooLong extends Error {}

interface Waiting<Item, Verdict> {
    item: Item;
    since: number;
    resolve(verdict: Verdict): void;
    reject(error: unknown): void;
}

/** Opens a batcher; close it with `close()`. */
export function openBatch<Item, Verdict>(options: BatchOptions<Item, Verdict>): Batch<Item, Verdict> {
    const { keyOf, sizeOf, isCommonFate = () => true, sharesFate = () => true } = options;
    const { maxSize = 500, maxTotal = Number.POSITIVE_INFINITY, maxInFlight = 2, maxWaitMs } = options;
    let waiting: Waiting<Item, Verdict>[] = [];
    let inFlight = 0;
    let isScheduled = false;
    let isClosed = false;
    const idleWaiters: (() => void)[] = [];
    let expiry: NodeJS.Timeout | undefined;

    return {
        add(item) {
            if (isClosed) return Promise.reject(new BatchClosed('no more is taken: closing'));
            return new Promise((resolve, reject) => {
                waiting.push({ item, since: performance.now(), resolve, reject });
                schedule();
                watchWaiting();
            });
        },
        turnAway,
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
            while (inFlight < maxInFlight && waiting.length > 0) void depart(take());
            resolveIfIdle();
        });
    }

    function take(): Waiting<Item, Verdict>[] {
        if (keyOf === undefined) return waiting.splice(0, maxSize);
        const taken = new Map<string, Waiting<Item, Verdict>>();
        const left: Waiting<Item, Verdict>[] = [];
        let total = 0;
        for (const one of waiting) {
            const key = keyOf(one.item);
            const size = sizeOf?.(one.item) ?? 0;
            const fits = taken.size === 0 || (taken.size < maxSize && total + size <= maxTotal);
            if (fits && !taken.has(key)) {
                taken.set(key, one);
                total += size;
            } else left.push(one);
        }
        waiting = left;
        return [...taken.values()];
    }

    async function depart(batch: Waiting<Item, Verdict>[]): Promise<void> {
        inFlight += 1;
        try {
            await settle(batch);
        } finally {
            inFlight -= 1;
            if (waiting.length > 0) schedule();
            resolveIfIdle();
        }
    }

    function turnAway(isMeant: (item: Item) => boolean, cause: unknown): void {
        const meant = waiting.filter((one) => isMeant(one.item));
        waiting = waiting.filter((one) => !isMeant(one.item));
        for (const one of meant) one.reject(cause);
        resolveIfIdle();
    }

    /** A batch is atomic. If one item is at fault, the batch runs again in halves until only that item fails. */
    async function settle(batch: Waiting<Item, Verdict>[]): Promise<void> {
        try {
            const verdicts = await options.run(batch.map((one) => one.item));
            if (verdicts.length !== batch.length) throw new Error(`${verdicts.length} verdicts for ${batch.length} items`);
            for (const [place, one] of batch.entries()) one.resolve(verdicts[place] as Verdict);
        } catch (error) {
            const isCommon = isCommonFate(error);
            if (isCommon || batch.length === 1) {
                for (const one of batch) one.reject(error);
                if (isCommon) turnAway(sharesFate, error);
                return;
            }
            const middle = Math.ceil(batch.length / 2);
            await settle(batch.slice(0, middle));
            await settle(batch.slice(middle));
        }
    }

    function resolveIfIdle(): void {
        if (waiting.length === 0 && inFlight === 0) for (const tell of idleWaiters.splice(0)) tell();
    }

    function watchWaiting(): void {
        const oldest = waiting[0];
        if (maxWaitMs === undefined || expiry !== undefined || oldest === undefined) return;
        expiry = setTimeout(
            () => {
                expiry = undefined;
                const limit = performance.now() - maxWaitMs;
                const late = waiting.filter((one) => one.since <= limit);
                waiting = waiting.filter((one) => one.since > limit);
                for (const one of late) one.reject(new WaitedTooLong(`no place in a batch within ${maxWaitMs} ms`));
                watchWaiting();
                resolveIfIdle();
            },
            Math.max(1, oldest.since + maxWaitMs - performance.now()),
        );
        expiry.unref();
    }
}
