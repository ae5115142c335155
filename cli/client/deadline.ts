/** Ends a call with all its retries: after a timeout or when the caller's signal is aborted. */
interface Deadline {
    /** Aborted at the deadline. */
    signal: AbortSignal;
    isOver(): boolean;
    leftMs(): number;
    /** Resolves after `ms` milliseconds or at the deadline. */
    wait(ms: number): Promise<void>;
    /** Removes the timer and the listener of the caller's signal. */
    close(): void;
}

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

/** Starts the timeout. @param callers a signal that ends the call earlier */
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
        wait: (ms) => wait(ms, signal),
        close() {
            clearTimeout(timer);
            callers?.removeEventListener('abort', abort);
        },
    };
}
