/** The exit code of a program that Ctrl-C ends, as shells give it: 128 and the number of the signal. */
export const ENDED_BY_CTRL_C = 130;

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
