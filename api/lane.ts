import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** Does one work after the other. */
export type Lane = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/**
 * A lane for what keeps this process busy for a while: one after the other, with a turn of the loop in between. However many callers
 * ask for it at once, everybody else waits for one of them at the most.
 */
export function openLane(): Lane {
    let last: Promise<unknown> = Promise.resolve();
    return (work) => {
        const mine = last.then(() => turnOfTheLoop()).then(work);
        last = mine.catch(() => undefined);
        return mine;
    };
}
