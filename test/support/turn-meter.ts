import { performance } from 'node:perf_hooks';
import { doKnownWork } from './known-work.ts';

/**
 * Loaded into a process before its program (`node --import`). While it is switched on, it records the CPU time of the main thread in each
 * turn of the event loop, including garbage collection. On a busy machine the same work takes more CPU time. So known work is measured
 * before the first and after the last of these turns, for comparison.
 */
let turns: number[] | undefined;
let knownMs = 0;
/** Limit of goal X1 for the 99.9th percentile. */
const SLOW_MS = 25;
let wallMs = 0;
let before = 0;

function cpuMs(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
}

function measureKnownWork(): number {
    const began = cpuMs();
    doKnownWork();
    return cpuMs() - began;
}

/** Characters of JSON that were read and written in the current turn, and in the busiest one. */
let characters = 0;
let maxCharacters = 0;
const { parse, stringify } = JSON;
JSON.parse = (text, reviver) => {
    characters += String(text).length;
    return parse(text, reviver);
};
JSON.stringify = (...given: unknown[]) => {
    const text = Reflect.apply(stringify, JSON, given) as string | undefined;
    characters += text?.length ?? 0;
    return text as string;
};

function look(): void {
    if (turns === undefined) return;
    maxCharacters = Math.max(maxCharacters, characters);
    characters = 0;
    const now = cpuMs();
    turns.push(now - before);
    before = now;
    setImmediate(look);
}

process.on('message', (message) => {
    if (message === 'measure') {
        turns = [];
        knownMs = measureKnownWork();
        characters = 0;
        maxCharacters = 0;
        before = cpuMs();
        wallMs = performance.now();
        setImmediate(look);
    } else if (message === 'measured') {
        // The turn that stops the recording may be the longest.
        turns?.push(cpuMs() - before);
        maxCharacters = Math.max(maxCharacters, characters);
        const sorted = (turns ?? []).toSorted((a, b) => a - b);
        turns = undefined;
        knownMs = Math.max(knownMs, measureKnownWork());
        process.send?.({
            turns: sorted.length,
            maxMs: sorted.at(-1) ?? 0,
            knownMs,
            maxCharacters,
            slow: sorted.filter((ms) => ms > SLOW_MS).length,
            tookMs: performance.now() - wallMs,
            worst: sorted.slice(-5),
        });
    }
});
process.channel?.unref();
