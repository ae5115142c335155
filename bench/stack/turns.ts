import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into an API or a worker before its program (`NODE_OPTIONS=--import=…`): takes down how much CPU its main thread uses in each turn of its
 * event loop, collections of garbage included, and not what other processes or threads do meanwhile. SIGUSR2 has it print what came since
 * the last one, as a line that begins with `turns <number>`.
 */
const SLOW_MS = 25;
let asked = 0;
let taken: number[] = [];
let before = 0;

function cpuMs(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
}

/** Runs once a turn and keeps no turn from waiting: an immediate without a reference is called where the loop comes by anyway. */
function look(): void {
    const now = cpuMs();
    taken.push(now - before);
    before = now;
    setImmediate(look).unref();
}

function tell(): void {
    const sorted = taken.toSorted((one, other) => one - other);
    taken = [];
    const figures = {
        turns: sorted.length,
        slow: sorted.filter((ms) => ms > SLOW_MS).length,
        p999: sorted[Math.floor(sorted.length * 0.999)] ?? 0,
        most: sorted.at(-1) ?? 0,
    };
    process.stdout.write(`turns ${++asked} ${JSON.stringify(figures)}\n`);
    // What telling took is nobody's.
    before = cpuMs();
}

if (isMainThread) {
    before = cpuMs();
    setImmediate(look).unref();
    process.on('SIGUSR2', tell);
}
