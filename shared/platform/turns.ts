import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Number of characters or bytes of a long text that one turn of the event loop converts. Fresh memory is the main cost: the kernel takes 20
 * to 60 ms to provide 5 MB. So the pieces are written into one buffer, whose pages are provided turn by turn.
 */
const PIECE = 512 * 1024;

/** Runs work in steps. Other work of the event loop runs after each step. */
export async function stepsInTurns<Result>(steps: Iterator<void, Result, void>): Promise<Result> {
    let step = steps.next();
    while (!step.done) {
        await nextTurn();
        step = steps.next();
    }
    return step.value;
}

/** The bytes of a text. A long text takes several turns of the event loop. */
export async function bytesInTurns(text: string): Promise<Buffer> {
    if (text.length <= PIECE) return Buffer.from(text);
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    let written = 0;
    for (let at = 0, to = 0; at < text.length; at = to) {
        await nextTurn();
        to = at + PIECE;
        if (isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
        written += bytes.write(text.slice(at, to), written);
    }
    return bytes;
}

/** The bytes that a base64 text encodes. A long text takes several turns of the event loop. */
export async function base64InTurns(text: string): Promise<Buffer> {
    if (text.length <= PIECE) return Buffer.from(text, 'base64');
    const bytes = Buffer.allocUnsafeSlow(Math.ceil((text.length * 3) / 4));
    let written = 0;
    for (let at = 0; at < text.length; at += PIECE) {
        await nextTurn();
        written += bytes.write(text.slice(at, at + PIECE), written, 'base64');
    }
    return bytes.subarray(0, written);
}

/** Encodes bytes as base64, in a separate turn of the event loop if there are many. */
export async function toBase64InTurns(bytes: Buffer): Promise<string> {
    if (bytes.length > PIECE) await nextTurn();
    return bytes.toString('base64');
}

/** Decodes UTF-8 bytes, in a separate turn of the event loop if there are many. */
export async function textInTurns(bytes: Buffer): Promise<string> {
    if (bytes.length > PIECE) await nextTurn();
    return bytes.toString();
}

function isHighSurrogate(code: number): boolean {
    return code >= 0xd800 && code <= 0xdbff;
}

/** Number of characters after which other requests get a turn of the event loop. */
const TURN = 64 * 1024;

/** Yields the parts of a long text unchanged, over several turns of the event loop, because writing 5 MB at once takes up to 0.1 s. */
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

/** The results of `work` on each value, one after the other. Other requests get a turn of the event loop after each long result. */
export async function eachInTurn<Value>(values: readonly Value[], work: (value: Value) => Promise<string>): Promise<string[]> {
    const texts: string[] = [];
    for (const value of values) {
        const text = await work(value);
        texts.push(text);
        if (text.length >= TURN) await nextTurn();
    }
    return texts;
}
