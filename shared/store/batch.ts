/**
 * Things that arrive in one tick of the event loop travel as one batch. What cannot travel yet waits, and so the next batch
 * grows by itself when the other side is slow; under no load nothing waits for company.
 */
export interface Batch<Item, Verdict> {
    /**
     * Resolves with this item's own verdict. Rejects with the cause when its batch failed as a whole, with `BatchClosed` after
     * `close()`, and with `WaitedTooLong` when it never left; in both of these nothing was done.
     */
    add(item: Item): Promise<Verdict>;
    /** Rejects those that wait and are meant: what just failed for a whole batch would fail for them too, only later. */
    turnAway(isMeant: (item: Item) => boolean, cause: unknown): void;
    /** Takes nothing more and waits for what was taken. */
    close(): Promise<void>;
}

export interface BatchOptions<Item, Verdict> {
    /** Does the work of all items; verdicts in the order of the items. */
    run(items: readonly Item[]): Promise<readonly Verdict[]>;
    /** Items of one key never travel together: the second of them must see what the first one did. */
    keyOf(item: Item): string;
    /** Whether an error hits whoever is in the batch (a lost connection). Any other one is an item's own fault, and the others are run without it. */
    isCommonFate(error: unknown): boolean;
    /** Items of a batch, at the most. */
    maxSize?: number;
    /** Batches under way at once. */
    maxInFlight?: number;
    /** Longest wait for a place in a batch, in milliseconds. */
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

/** Opens a coalescer; close it with `close()`. */
export function openBatch<Item, Verdict>(options: BatchOptions<Item, Verdict>): Batch<Item, Verdict> {
    const { maxSize = 500, maxInFlight = 2, maxWaitMs = 1000 } = options;
    let waiting: Waiting<Item, Verdict>[] = [];
    let inFlight = 0;
    let isScheduled = false;
    let isClosed = false;
    const whoWaitForTheEnd: (() => void)[] = [];
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
        turnAway(isMeant, cause) {
            const meant = waiting.filter((one) => isMeant(one.item));
            waiting = waiting.filter((one) => !isMeant(one.item));
            for (const one of meant) one.reject(cause);
            tellIfEmpty();
        },
        async close() {
            isClosed = true;
            if (waiting.length > 0 || inFlight > 0) await new Promise<void>((resolve) => whoWaitForTheEnd.push(resolve));
            clearTimeout(expiry);
        },
    };

    /** After this tick's I/O, so that all requests which arrived together are seen. */
    function schedule(): void {
        if (isScheduled || inFlight >= maxInFlight) return;
        isScheduled = true;
        setImmediate(() => {
            isScheduled = false;
            while (inFlight < maxInFlight && waiting.length > 0) void depart(take());
            tellIfEmpty();
        });
    }

    function take(): Waiting<Item, Verdict>[] {
        const taken = new Map<string, Waiting<Item, Verdict>>();
        const left: Waiting<Item, Verdict>[] = [];
        for (const one of waiting) {
            const key = options.keyOf(one.item);
            if (taken.size < maxSize && !taken.has(key)) taken.set(key, one);
            else left.push(one);
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
            tellIfEmpty();
        }
    }

    /** A batch is all or nothing, so that one which failed by one item's fault can be run again in halves until only that item fails. */
    async function settle(batch: Waiting<Item, Verdict>[]): Promise<void> {
        try {
            const verdicts = await options.run(batch.map((one) => one.item));
            for (const [place, one] of batch.entries()) {
                const verdict = verdicts[place];
                if (verdict === undefined) one.reject(new Error('the batch gave no verdict for this item'));
                else one.resolve(verdict);
            }
        } catch (error) {
            if (batch.length === 1 || options.isCommonFate(error)) {
                for (const one of batch) one.reject(error);
                return;
            }
            const middle = Math.ceil(batch.length / 2);
            await settle(batch.slice(0, middle));
            await settle(batch.slice(middle));
        }
    }

    function tellIfEmpty(): void {
        if (waiting.length === 0 && inFlight === 0) for (const tell of whoWaitForTheEnd.splice(0)) tell();
    }

    function watchWaiting(): void {
        const oldest = waiting[0];
        if (expiry !== undefined || oldest === undefined) return;
        expiry = setTimeout(
            () => {
                expiry = undefined;
                const limit = performance.now() - maxWaitMs;
                const late = waiting.filter((one) => one.since <= limit);
                waiting = waiting.filter((one) => one.since > limit);
                for (const one of late) one.reject(new WaitedTooLong(`no place in a batch within ${maxWaitMs} ms`));
                watchWaiting();
                tellIfEmpty();
            },
            Math.max(1, oldest.since + maxWaitMs - performance.now()),
        );
        expiry.unref();
    }
}
