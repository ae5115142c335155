import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ANSWER_READER_NICENESS, lowerChildPriority } from '../../shared/platform/low-priority.ts';
import type { FromChild, ToChild } from './child-loop.ts';

export interface Order {
    task: object;
    /** Limit of CPU time. On a busy machine a child waits longer for a core than it works. */
    cpuMs: number;
    /** Limit of memory growth since the child's start. */
    growthBytes: number;
}

/** `overrun`: the child was killed for its time or its memory. An error is a bug. */
export type Done = { answer: unknown; cpuMs: number } | 'overrun' | Error;

export type Child = ReturnType<typeof startChild>;

/** Limit of wall time, as a multiple of the CPU limit. */
const MAX_LENGTH = 10;

/** Interval of measurements. A child can allocate a few MiB in between. */
const LOOK_MS = 8;

/** How long an answer waits for a killed child to exit. */
const EXIT_MS = 1000;

const MAX_HEAP_MB = 160;

/**
 * Without V8's helper threads a child uses one core, and its CPU time measures the task. Incremental marking, which V8 begins when the
 * child is idle, lets the heap grow by another 20 MB.
 */
const FLAGS = [
    `--max-old-space-size=${MAX_HEAP_MB}`,
    '--max-semi-space-size=4',
    '--single-threaded',
    '--no-incremental-marking',
    '--expose-gc',
];

/**
 * Starts a child that reads answers. It shares only its channel with this process: no environment, no settings, no files. It gets a low
 * priority before its first task. A child that replaces a killed one gets it at once, because contributors can cause that.
 * @param events.changed the child became ready
 * @param events.ended the child exited; with an error if it never became ready
 */
export function startChild(
    file: URL,
    args: readonly string[],
    { isReplacement, ...events }: { isReplacement: boolean; changed(): void; ended(error?: Error): void },
) {
    const cache = getCompileCacheDir();
    const child = fork(fileURLToPath(file), args, {
        execArgv: FLAGS,
        serialization: 'advanced',
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) },
    });
    const { pid = 0 } = child;
    const lowerPriority = () => lowerChildPriority(pid, ANSWER_READER_NICENESS);
    if (isReplacement) lowerPriority();
    let base: Usage | undefined;
    let isReady = false;
    let current: { order: Order; done(answer: Done): void; timer?: NodeJS.Timeout } | undefined;

    child.on('message', (message: FromChild) => {
        if (child.killed) return;
        if ('ready' in message) {
            isReady = true;
            // Loading its libraries took ten seconds with the low priority on a busy machine.
            if (base === undefined) lowerPriority();
            base ??= usageOf(pid);
            // An idle child does not keep this process alive. A starting or working one does.
            keepAlive(child, false);
            events.changed();
        } else finish(message.bug === undefined ? { answer: message.answer, cpuMs: message.cpuMs } : new Error(message.bug));
    });
    child.once('error', () => ended(undefined));
    child.once('exit', ended);

    function ended(code: number | null | undefined): void {
        const isBroken = base === undefined && !child.killed;
        isReady = false;
        finish('overrun');
        events.ended(isBroken ? new Error(`a reading process did not start (${code})`) : undefined);
    }

    function finish(answer: Done): void {
        clearTimeout(current?.timer);
        current?.done(answer);
        current = undefined;
    }

    function kill(): void {
        isReady = false;
        keepAlive(child, true);
        child.kill('SIGKILL');
    }

    function watch({ order }: NonNullable<typeof current>): void {
        const began = performance.now();
        const before = usageOf(pid);
        const look = () => {
            if (current?.order !== order) return;
            const wallMs = performance.now() - began;
            const now = usageOf(pid);
            const cpuMs = now === undefined || before === undefined ? wallMs : now.cpuMs - before.cpuMs;
            const grown = now === undefined || base === undefined ? 0 : now.memoryBytes - base.memoryBytes;
            const isWithin = cpuMs < order.cpuMs && wallMs < MAX_LENGTH * order.cpuMs && grown <= order.growthBytes;
            if (!isWithin) kill();
            // The caller gets its answer when the child's memory is free, or after EXIT_MS.
            current.timer = isWithin ? setTimeout(look, LOOK_MS) : setTimeout(() => finish('overrun'), EXIT_MS);
        };
        look();
    }

    return {
        /** Whether the child is loaded and idle. */
        isReady: () => isReady,
        run(order: Order): Promise<Done> {
            return new Promise((done) => {
                isReady = false;
                keepAlive(child, true);
                current = { order, done };
                // If the child exits meanwhile, its `exit` event reports it.
                child.send({ task: order.task, maxMs: Math.ceil(2 * MAX_LENGTH * order.cpuMs) } satisfies ToChild<object>, () => {});
                watch(current);
            });
        },
        kill,
    };
}

function keepAlive(child: ChildProcess, isKept: boolean): void {
    for (const handle of [child, child.channel]) isKept ? handle?.ref() : handle?.unref();
}

/** CPU time and memory of a process on Linux; undefined on other systems. */
interface Usage {
    cpuMs: number;
    memoryBytes: number;
}

/** USER_HZ, which Linux fixes for all programs, and the page size of nearly all machines that run Node. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Fields of /proc/PID/stat after the program name, which ends at the last bracket (proc(5): 14, 15 and 24). */
const UTIME = 11;
const STIME = 12;
const RSS = 21;

function usageOf(pid: number): Usage | undefined {
    let stat: string;
    try {
        stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    } catch {
        return undefined;
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
        cpuMs: (Number(fields[UTIME]) + Number(fields[STIME])) * TICK_MS,
        memoryBytes: Number(fields[RSS]) * PAGE_BYTES,
    };
}
