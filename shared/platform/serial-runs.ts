/** Runs `work` serially. Calls during a run share the next run, if that is still worth it then. */
export function createSerialRuns(work: () => Promise<void>, isWorthIt = () => true) {
    let running: Promise<void> | undefined;
    let isWanted = false;
    const run = async () => {
        do {
            isWanted = false;
            await work();
        } while (isWanted && isWorthIt());
    };
    return {
        /** Runs it now, or after the current run. Resolves when both have ended. */
        now(): Promise<void> {
            if (running !== undefined) isWanted = true;
            running ??= run().finally(() => {
                running = undefined;
            });
            return running;
        },
        /** Resolves when nothing runs. */
        idle: async (): Promise<void> => running,
    };
}
