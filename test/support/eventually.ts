/** Asks until the answer is right, and resolves with how long that took; fails after `withinMs`, with the last answer. */
export async function eventually<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, withinMs = 2000): Promise<number> {
    const began = performance.now();
    for (;;) {
        const answer = await ask();
        const ms = performance.now() - began;
        if (isRight(answer)) return ms;
        if (ms > withinMs) throw new Error(`not within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}
