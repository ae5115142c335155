/** Orders in one batch: bounds the size of a statement. */
const MAX_BATCH = 1000;

export interface PerTickOptions {
    /** Batches under way at once; what arrives meanwhile waits for the next one, so that batches grow under load. */
    maxRunning?: number;
    /** Orders in one batch. */
    maxBatch?: number;
}

/**
 * Turns single orders into one question for all that arrive within one turn of the event loop. Nothing is remembered: an
 * answer was given after it was asked for. `load` answers each order at its own place, and fails for all of its batch.
 */
export function perTick<Order, Answer>(
    load: (orders: readonly Order[]) => Promise<readonly Answer[]>,
    { maxRunning = 2, maxBatch = MAX_BATCH }: PerTickOptions = {},
): (order: Order) => Promise<Answer> {
    const waiting: Waiter<Order, Answer>[] = [];
    let running = 0;
    let isScheduled = false;

    function schedule(): void {
        if (isScheduled || running >= maxRunning || waiting.length === 0) return;
        isScheduled = true;
        setImmediate(() => {
            isScheduled = false;
            void runBatch(waiting.splice(0, maxBatch));
            schedule();
        });
    }

    async function runBatch(batch: Waiter<Order, Answer>[]): Promise<void> {
        running++;
        try {
            const answers = await load(batch.map((waiter) => waiter.order));
            if (answers.length !== batch.length) throw new Error(`${answers.length} answers to ${batch.length} orders`);
            for (const [place, waiter] of batch.entries()) waiter.resolve(answers[place] as Answer);
        } catch (error) {
            // Those who wait would ask the same store next: they learn it now, rather than after a second time-out.
            for (const waiter of batch.concat(waiting.splice(0))) waiter.reject(error);
        } finally {
            running--;
            schedule();
        }
    }

    return (order) =>
        new Promise((resolve, reject) => {
            waiting.push({ order, resolve, reject });
            schedule();
        });
}

interface Waiter<Order, Answer> {
    order: Order;
    resolve(answer: Answer): void;
    reject(error: unknown): void;
}
