/** Resolves after `ms` milliseconds, or when the signal is aborted. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((done) => {
        const timer = setTimeout(end, ms);
        signal?.addEventListener('abort', end);
        if (signal?.aborted) end();
        function end() {
            clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            done();
        }
    });
}

/** Ends a call with all its retries after a timeout. @param callers a signal that ends it earlier */
export function openDeadline(timeoutMs: number, callers: AbortSignal | undefined) {
    const endsAt = performance.now() + timeoutMs;
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, timeoutMs);
    callers?.addEventListener('abort', abort);
    if (callers?.aborted) abort();
    const signal: AbortSignal = controller.signal;
    return {
        /** Aborted at the deadline. */
        signal,
        isOver: () => signal.aborted || performance.now() >= endsAt,
        leftMs: () => endsAt - performance.now(),
        /** Resolves after `ms` milliseconds or at the deadline. */
        wait: (ms: number) => wait(ms, signal),
        /** Removes the timer and the listener of the caller's signal. */
        close() {
            clearTimeout(timer);
            callers?.removeEventListener('abort', abort);
        },
    };
}
