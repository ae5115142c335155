import { readSync, writeSync } from 'node:fs';
import { Script } from 'node:vm';
import { frameHead, frameReader } from './frames.ts';

/** The descriptor that parent and child share; see `child-reader.ts`. */
export const CHANNEL = 3;

/** Time limit of a task whose parent died. A live parent ends a task earlier. */
const ORPHAN_MS = 10_000;

/** Memory growth after which the child collects garbage between two tasks. */
const UNTIDY_BYTES = 16 * 1024 * 1024;

const PIECE_BYTES = 64 * 1024;

/**
 * Answers one task after the other, until the parent closes the channel. All I/O is synchronous: a child reads, works and writes, and
 * the parent kills it when it works too long.
 * @param answer throws only on a bug
 */
export function answerTasks<Task>(answer: (task: Task, payload: Buffer) => { header: object; text: string }): void {
    const asked: { task: Task; payload: Buffer }[] = [];
    const take = frameReader((header, payload) => asked.push({ task: header as Task, payload }));
    const base = process.memoryUsage.rss();
    let running: (() => void) | undefined;
    const script = new Script('run()');
    Reflect.set(globalThis, 'run', () => running?.());
    send({ ready: true }, '');
    for (;;) {
        const piece = Buffer.allocUnsafe(PIECE_BYTES);
        const length = readSync(CHANNEL, piece);
        if (length === 0) return;
        take(piece.subarray(0, length));
        for (let next = asked.shift(); next !== undefined; next = asked.shift()) {
            const { task, payload } = next;
            running = () => {
                const before = process.cpuUsage();
                const { header, text } = answered(() => answer(task, payload));
                const { user, system } = process.cpuUsage(before);
                send({ ...header, cpuMs: (user + system) / 1000 }, text);
            };
            script.runInThisContext({ timeout: ORPHAN_MS });
            running = undefined;
            if (process.memoryUsage.rss() > base + UNTIDY_BYTES) globalThis.gc?.();
            send({ ready: true }, '');
        }
    }
}

/** Passes a bug to the parent, which reports it. */
function answered(run: () => { header: object; text: string }): { header: object; text: string } {
    try {
        return run();
    } catch (error) {
        return { header: { bug: error instanceof Error ? (error.stack ?? error.message) : String(error) }, text: '' };
    }
}

function send(header: object, text: string): void {
    const payload = Buffer.from(text);
    writeAll(frameHead(header, payload.length));
    writeAll(payload);
}

function writeAll(bytes: Buffer): void {
    for (let written = 0; written < bytes.length; ) written += writeSync(CHANNEL, bytes, written);
}
