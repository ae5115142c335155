const PAUSE_MS = 10;

/**
 * Asks until the answer is right, and resolves with how many milliseconds that took; fails after `withinMs`, with the last answer. Time by
 * which the timers of this process were late is the machine's and does not count.
 */
export async function eventually<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, withinMs = 8000): Promise<number> {
    const began = performance.now();
    let lateMs = 0;
    for (;;) {
        const answer = await ask();
        const asked = performance.now();
        const ms = asked - began - lateMs;
        if (isRight(answer)) return ms;
        if (ms > withinMs) throw new Error(`not within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}`);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        lateMs += Math.max(0, performance.now() - asked - PAUSE_MS);
    }
}
