/** Runs `work` serially. Calls during a run share the next run, if that is still worth it then. */
export function createSerialRuns(work: () => Promise<void>, isWorthIt = () => true) {
    let running: Promise<void> | undefined;
    let next: Promise<void> | undefined;
    const start = (): Promise<void> => {
        running = work().finally(() => {
            running = undefined;
        });
        return running;
    };
    return {
        /** Runs it now, or after the current run. Resolves when that run has ended, however many follow it. */
        now(): Promise<void> {
            if (next !== undefined) return next;
            if (running === undefined) return start();
            next = running
                .catch(() => undefined)
                .then(() => {
                    next = undefined;
                    return isWorthIt() ? start() : undefined;
                });
            return next;
        },
        /** Resolves when nothing runs. */
        idle: async (): Promise<void> => next ?? running,
    };
}
