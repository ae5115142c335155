/**
 * Sends what arrives while earlier batches are under way as one: alone an item goes at once, under load a statement carries many.
 * @param send stores all of a batch or none of it
 */
export function createBatcher<Item>(
    send: (batch: Item[]) => Promise<void>,
    { atOnce, largest }: { atOnce: number; largest: number },
): (item: Item) => Promise<void> {
    const waiting: { item: Item; resolve: () => void; reject: (error: unknown) => void }[] = [];
    let underWay = 0;
    let isScheduled = false;

    return (item) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        waiting.push({ item, resolve, reject });
        schedule();
        return promise;
    };

    /** After everything that is ready now has had its turn, so that one tick's arrivals go together. */
    function schedule(): void {
        if (isScheduled || underWay >= atOnce || waiting.length === 0) return;
        isScheduled = true;
        setImmediate(() => {
            isScheduled = false;
            void sendNext();
        });
    }

    async function sendNext(): Promise<void> {
        const batch = waiting.splice(0, largest);
        underWay += 1;
        schedule();
        try {
            await send(batch.map(({ item }) => item));
            for (const { resolve } of batch) resolve();
        } catch (error) {
            for (const { reject } of batch) reject(error);
        } finally {
            underWay -= 1;
            schedule();
        }
    }
}
