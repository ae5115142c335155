import { performance } from 'node:perf_hooks';

/**
 * Loaded into a process before its program (`node --import`): while it is told to, it takes down how much CPU the main thread uses in
 * each turn of its event loop, collections of garbage included. Other processes of a busy machine do not count.
 */
let turns: number[] | undefined;
/** Goal X1, at the 99.9th. */
const SLOW_MS = 25;
let wallMs = 0;
let before = 0;

function cpuMs(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
}

function look(): void {
    if (turns === undefined) return;
    const now = cpuMs();
    turns.push(now - before);
    before = now;
    setImmediate(look);
}

process.on('message', (message) => {
    if (message === 'measure') {
        turns = [];
        before = cpuMs();
        wallMs = performance.now();
        setImmediate(look);
    } else if (message === 'measured') {
        // The turn that is told to stop may be the longest.
        turns?.push(cpuMs() - before);
        const sorted = (turns ?? []).toSorted((a, b) => a - b);
        turns = undefined;
        process.send?.({
            turns: sorted.length,
            mostMs: sorted.at(-1) ?? 0,
            slow: sorted.filter((ms) => ms > SLOW_MS).length,
            tookMs: performance.now() - wallMs,
            worst: sorted.slice(-5),
        });
    }
});
process.channel?.unref();
