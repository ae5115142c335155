/** Aborted on Ctrl-C, which does not end the process before `end`. */
export interface Interruption {
    signal: AbortSignal;
    end(): void;
}

export function awaitInterruption(): Interruption {
    const controller = new AbortController();
    const interrupt = () => controller.abort();
    process.once('SIGINT', interrupt);
    return { signal: controller.signal, end: () => void process.off('SIGINT', interrupt) };
}
