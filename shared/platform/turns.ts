import { setImmediate as nextTurn } from 'node:timers/promises';

export { nextTurn };

/** Characters after which other requests have their turn of the event loop. */
const TURN = 64 * 1024;

/** The same parts of a long text, spread over turns of the event loop: to write one of 5 MB takes up to 0.1 s. */
export async function* inTurns(parts: AsyncIterable<string>): AsyncGenerator<string> {
    let written = 0;
    for await (const part of parts) {
        yield part;
        written += part.length;
        if (written < TURN) continue;
        written = 0;
        await nextTurn();
    }
}

/** The results of `work` on each value, one after the other; after each long one others have their turn. */
export async function eachInTurn<Value>(values: readonly Value[], work: (value: Value) => Promise<string>): Promise<string[]> {
    const texts: string[] = [];
    for (const value of values) {
        const text = await work(value);
        texts.push(text);
        if (text.length >= TURN) await nextTurn();
    }
    return texts;
}
