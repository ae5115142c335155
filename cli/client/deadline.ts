/** The one end of a call and all its retries, set by either: the clock or the caller. */
export interface Deadline {
    /** Aborts at the end. */
    signal: AbortSignal;
    isOver(): boolean;
    leftMs(): number;
    /** Resolves after so long, or at the end. */
    wait(ms: number): Promise<void>;
    /** Lets go of the clock and of the caller's signal. */
    close(): void;
}

/** Begins at once. @param callers ends it sooner */
export function openDeadline(timeoutMs: number, callers: AbortSignal | undefined): Deadline {
    const endsAt = performance.now() + timeoutMs;
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, timeoutMs);
    callers?.addEventListener('abort', abort);
    if (callers?.aborted) abort();
    const { signal } = controller;
    return {
        signal,
        isOver: () => signal.aborted || performance.now() >= endsAt,
        leftMs: () => endsAt - performance.now(),
        wait: (ms) =>
            new Promise((done) => {
                const pause = setTimeout(end, ms);
                signal.addEventListener('abort', end);
                if (signal.aborted) end();
                function end() {
                    clearTimeout(pause);
                    signal.removeEventListener('abort', end);
                    done();
                }
            }),
        close() {
            clearTimeout(timer);
            callers?.removeEventListener('abort', abort);
        },
    };
}
