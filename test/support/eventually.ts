import { isWhole } from './sample.ts';

const PAUSE_MS = 10;
/** The longest delay that a busy machine may cause. */
const PATIENCE_MS = 20_000;

/** The time to wait for something that is promised within `withinMs`. Long runs check the time; `npm test` only checks that it happens. */
export const patienceFor = (withinMs: number): number => (isWhole ? withinMs : Math.max(withinMs, PATIENCE_MS));

/**
 * The time that is allowed for something with a limit of `ms`. `npm test` allows ten times as much, since the machine does other work. Work
 * that grows with the square of its input still takes longer than that.
 */
export const roomFor = (ms: number): number => (isWhole ? ms : 10 * ms);

/** The least remaining milliseconds of a wait that has begun. A busy machine may have used nearly all of the wait before the test looks. */
export const leastLeft = (ms: number): number => (isWhole ? ms : 1);

/**
 * Repeats `ask` until the answer is right.
 * @returns the milliseconds that it took, without delays of this process's timers, which the machine causes
 * @throws after `withinMs`, with the last answer
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
