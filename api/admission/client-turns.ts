/**
 * Resumes one caller per turn of the event loop; clients take turns. If 100 connections of one client each need 5 ms of work, each turn
 * takes 5 ms instead of one turn of 500 ms, which would delay all fetches.
 * @param pauseAfter returns how many milliseconds the next caller waits, from those that the last turn took
 */
export function createClientTurns(pauseAfter: (turnMs: number) => number) {
    /** The waiting callers of each client. The next client comes first. */
    const waiting = new Map<string, (() => void)[]>();
    let isRunning = false;

    function resumeNext(): void {
        const [first] = waiting;
        if (first === undefined) {
            isRunning = false;
            return;
        }
        const [client, callers] = first;
        // A client with more waiting callers moves to the end.
        waiting.delete(client);
        const began = performance.now();
        callers.shift()?.();
        if (callers.length > 0) waiting.set(client, callers);
        setImmediate(() => {
            const pause = pauseAfter(performance.now() - began);
            if (pause > 0) setTimeout(resumeNext, pause);
            else resumeNext();
        });
    }

    return {
        /** Resolves in a later turn of the event loop. */
        wait(client: string): Promise<void> {
            return new Promise((resolve) => {
                const callers = waiting.get(client);
                if (callers === undefined) waiting.set(client, [resolve]);
                else callers.push(resolve);
                if (isRunning) return;
                isRunning = true;
                setImmediate(resumeNext);
            });
        },
        /** Whether any caller waits. */
        isContested: () => waiting.size > 0,
    };
}
