import { Worker } from 'node:worker_threads';

/** Tells for how long the machine stood still, whatever this process did meanwhile. */
export interface Stalls {
    /** Milliseconds, of those since then. @param since as of Date.now() */
    since(since: number): Promise<number>;
    close(): Promise<unknown>;
}

export function watchStalls(): Stalls {
    const watch = new Worker(new URL('stall-watch.ts', import.meta.url));
    const asked = new Map<number, (ms: number) => void>();
    let questions = 0;
    watch.on('message', ({ id, ms }: { id: number; ms: number }) => {
        asked.get(id)?.(ms);
        asked.delete(id);
    });
    return {
        since: (since) =>
            new Promise((tell) => {
                asked.set(++questions, tell);
                watch.postMessage({ id: questions, since });
            }),
        close: () => watch.terminate(),
    };
}
