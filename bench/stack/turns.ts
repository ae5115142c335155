import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into an API or a worker before its program (`NODE_OPTIONS=--import=…`). Records the CPU time that the main thread uses in each
 * turn of its event loop. It includes garbage collection, but not other processes and threads. At SIGUSR2 it prints the turns since the
 * last report, as a line that begins with `turns <number>`.
 */
const SLOW_MS = 25;
let asked = 0;
let taken: number[] = [];
let before = 0;

function cpuMs(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
}

/** Runs once per turn and does not keep the loop awake: the loop calls an unreferenced immediate only if it runs anyway. */
function look(): void {
    const now = cpuMs();
    taken.push(now - before);
    before = now;
    setImmediate(look).unref();
}

function printReport(): void {
    const sorted = taken.toSorted((one, other) => one - other);
    taken = [];
    const figures = {
        turns: sorted.length,
        slow: sorted.filter((ms) => ms > SLOW_MS).length,
        p999: sorted[Math.floor(sorted.length * 0.999)] ?? 0,
        most: sorted.at(-1) ?? 0,
    };
    process.stdout.write(`turns ${++asked} ${JSON.stringify(figures)}\n`);
    // The time of the report counts for no turn.
    before = cpuMs();
}

if (isMainThread) {
    before = cpuMs();
    setImmediate(look).unref();
    process.on('SIGUSR2', printReport);
}
