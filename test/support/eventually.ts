import { isWhole } from './sample.ts';

const PAUSE_MS = 10;
/** A machine that does something else may be as slow as that. */
const PATIENCE_MS = 20_000;

/** How long to wait for what is promised within `withinMs`: the long runs hold the time, `npm test` that it comes. */
export const patienceFor = (withinMs: number): number => (isWhole ? withinMs : Math.max(withinMs, PATIENCE_MS));

/**
 * How long something may take that promises `ms`. `npm test` allows ten times as much, since the machine does other things; work that grows
 * with the square of its input takes more than that.
 */
export const roomFor = (ms: number): number => (isWhole ? ms : 10 * ms);

/** What is left at least of a wait that has begun: a busy machine may have used nearly all of it before it looks. */
export const leastLeft = (ms: number): number => (isWhole ? ms : 1);

/**
 * Asks until the answer is right, and resolves with how many milliseconds that took; fails after `withinMs`, with the last answer. Time by
 * which the timers of this process were late is the machine's and does not count.
 */
export async function eventually<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, withinMs = 8000): Promise<number> {
    const patience = patienceFor(withinMs);
    const began = performance.now();
    let lateMs = 0;
    for (;;) {
        const answer = await ask();
        const asked = performance.now();
        const ms = asked - began - lateMs;
        if (isRight(answer)) return ms;
        if (ms > patience) throw new Error(`not within ${patience} ms; the last answer was ${JSON.stringify(answer)}`);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        lateMs += Math.max(0, performance.now() - asked - PAUSE_MS);
    }
}
