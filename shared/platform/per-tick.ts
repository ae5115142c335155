import { openBatch } from './batch.ts';

export interface PerTickOptions {
    /** Batches in flight; what arrives meanwhile waits for the next one, so that batches grow under load. */
    maxRunning?: number;
    /** Orders in one batch. */
    maxBatch?: number;
}

/**
 * Batches the orders of one turn of the event loop into one query. There is no cache: an answer is always newer than its order. When a
 * query fails, waiting orders fail with it instead of after a second timeout.
 * @param load answers each order, in their order
 */
export function perTick<Order, Answer>(
    load: (orders: readonly Order[]) => Promise<readonly Answer[]>,
    { maxRunning = 2, maxBatch = 1000 }: PerTickOptions = {},
): (order: Order) => Promise<Answer> {
    const batch = openBatch<Order, Answer>({ run: load, isCommonFate: () => true, maxSize: maxBatch, maxInFlight: maxRunning });
    return (order) =>
        batch.add(order).catch((error: unknown) => {
            batch.turnAway(() => true, error);
            throw error;
        });
}
