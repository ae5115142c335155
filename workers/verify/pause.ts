/** Resolves after `ms` milliseconds, or when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
        if (ms <= 0 || signal.aborted) return resolve();
        const end = () => {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            resolve();
        };
        const timer = setTimeout(end, ms);
        signal.addEventListener('abort', end);
    });
}
