import { type ChildProcess, spawn } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { frameHead, frameReader } from './frames.ts';
import { type Usage, usageOf } from './process-usage.ts';

/** What a child is given to do, and when it is killed. */
export interface Order {
    task: object;
    payload: Uint8Array;
    /** Of CPU. On a busy machine a child waits for a core for longer than it works. */
    cpuMs: number;
    /** By which the child may grow, measured from its start. */
    growthBytes: number;
}

/** `overrun`: the child was killed, by its time or by its memory. An error is a bug. */
export type Done = { header: unknown; text: string; cpuMs: number } | 'overrun' | Error;

export interface Child {
    /** Loaded, and without a task. */
    isReady(): boolean;
    run(order: Order): Promise<Done>;
    kill(): void;
}

/** A task that does not end within so many times its time is given up, whatever it waits for. */
const LONGEST = 10;

/** How often a task is measured: what a child can allocate in between is a few MiB. */
const LOOK_MS = 8;

/** How long an answer waits for the end of a child that was killed. */
const EXIT_MS = 1000;

const MAX_HEAP_MB = 160;

/** V8's own helpers are left out: a child works on one core, and is measured by it. */
const FLAGS = [`--max-old-space-size=${MAX_HEAP_MB}`, '--max-semi-space-size=4', '--single-threaded', '--expose-gc'];

/**
 * Starts a child that reads answers. It gets nothing of this process but the one channel: no environment, no settings, no files.
 * @param events.changed the child became ready
 * @param events.ended the child is gone; with an error where it never became ready, or where its code broke
 */
export function startChild(file: URL, events: { changed(): void; ended(error?: Error): void }): Child {
    const cache = getCompileCacheDir();
    const child = spawn(process.execPath, [...FLAGS, fileURLToPath(file)], {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
        env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) },
    });
    const channel = child.stdio[3] as Socket;
    const closed = whenClosed(child, channel);
    let wasReady = false;
    let isReady = false;
    let base: Usage | undefined;
    let current: { order: Order; done(answer: Done): void; timer: NodeJS.Timeout | undefined } | undefined;

    channel.on(
        'data',
        frameReader((header, payload) => {
            if ((header as { ready?: true }).ready === true) {
                isReady = true;
                if (!wasReady) base = usageOf(child.pid ?? 0);
                wasReady = true;
                // Idle children keep no process from ending; those that start or work do.
                child.unref();
                channel.unref();
                events.changed();
                return;
            }
            const { cpuMs, bug } = header as { cpuMs: number; bug?: string };
            finish(bug === undefined ? { header, text: payload.toString('utf8'), cpuMs } : new Error(bug));
        }),
    );
    closed.then((code) => {
        const broke = !wasReady && code !== 'killed' ? new Error(`a reading process did not start (${code})`) : undefined;
        finish('overrun');
        events.ended(broke);
    });

    function finish(answer: Done): void {
        if (current === undefined) return;
        const { done, timer } = current;
        current = undefined;
        clearTimeout(timer);
        done(answer);
    }

    function kill(): void {
        isReady = false;
        child.kill('SIGKILL');
        channel.destroy();
    }

    function watch(order: Order): void {
        const began = performance.now();
        const before = usageOf(child.pid ?? 0);
        const look = () => {
            if (current?.order !== order) return;
            const wallMs = performance.now() - began;
            const now = usageOf(child.pid ?? 0);
            const cpuMs = now === undefined || before === undefined ? wallMs : now.cpuMs - before.cpuMs;
            const grown = now === undefined || base === undefined ? 0 : now.memoryBytes - base.memoryBytes;
            if (cpuMs < order.cpuMs && wallMs < LONGEST * order.cpuMs && grown <= order.growthBytes) {
                current.timer = setTimeout(look, LOOK_MS);
                return;
            }
            kill();
            // Its memory is free before its caller is answered; a child that does not end holds nobody up.
            current.timer = setTimeout(() => {
                current?.done('overrun');
                current = undefined;
            }, EXIT_MS);
        };
        if (current !== undefined) current.timer = setTimeout(look, LOOK_MS);
    }

    return {
        isReady: () => isReady,
        run(order) {
            return new Promise((done) => {
                isReady = false;
                child.ref();
                channel.ref();
                current = { order, done, timer: undefined };
                watch(order);
                channel.write(frameHead(order.task, order.payload.length));
                channel.write(order.payload);
            });
        },
        kill,
    };
}

/** Resolves when the process is gone and nothing of what was written to it is read any more: with its exit code, or `killed`. */
function whenClosed(child: ChildProcess, channel: Socket): Promise<number | 'killed' | 'failed'> {
    channel.on('error', () => {});
    const exited = new Promise<number | 'killed' | 'failed'>((done) => {
        child.once('error', () => done('failed'));
        child.once('exit', (code) => done(code ?? 'killed'));
    });
    const closed = new Promise<void>((done) => void channel.once('close', done));
    return exited.then(async (code) => {
        channel.destroy();
        await closed;
        return code;
    });
}
