import { type ChildProcess, spawn } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { BESIDE_CALLS, lowerChildPriority } from '../../shared/platform/low-priority.ts';
import { frameHead, frameReader } from './frames.ts';
import { type Usage, usageOf } from './process-usage.ts';

/** A task for a child, and its limits. */
export interface Order {
    task: object;
    payload: Uint8Array;
    /** Limit of CPU time. On a busy machine a child waits longer for a core than it works. */
    cpuMs: number;
    /** Limit of memory growth since the child's start. */
    growthBytes: number;
}

/** `overrun`: the child was killed for its time or its memory. An error is a bug. */
export type Done = { header: unknown; text: string; cpuMs: number } | 'overrun' | Error;

export interface Child {
    /** Whether the child is loaded and idle. */
    isReady(): boolean;
    run(order: Order): Promise<Done>;
    kill(): void;
}

/** Limit of wall time, as a multiple of the CPU limit. */
const LONGEST = 10;

/** Interval of measurements. A child can allocate a few MiB in between. */
const LOOK_MS = 8;

/** How long an answer waits for a killed child to exit. */
const EXIT_MS = 1000;

const MAX_HEAP_MB = 160;

/** Without V8's helper threads a child uses one core, and its CPU time measures the task. */
const FLAGS = [`--max-old-space-size=${MAX_HEAP_MB}`, '--max-semi-space-size=4', '--single-threaded', '--expose-gc'];

/**
 * Starts a child that reads answers. It shares only one channel with this process: no environment, no settings, no files.
 * @param events.changed the child became ready
 * @param events.ended the child exited; with an error if it never became ready
 */
export function startChild(file: URL, events: { changed(): void; ended(error?: Error): void }): Child {
    const cache = getCompileCacheDir();
    const child = spawn(process.execPath, [...FLAGS, fileURLToPath(file)], {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
        env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) },
    });
    if (child.pid !== undefined) lowerChildPriority(child.pid, BESIDE_CALLS);
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
                // An idle child does not keep this process alive. A starting or working one does.
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
        // Keeps this process alive until the child has exited.
        child.ref();
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
            // The caller gets its answer when the child's memory is free, or after EXIT_MS.
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

/** Resolves with the exit code, or `killed`, when the process has exited and its channel is closed. */
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
