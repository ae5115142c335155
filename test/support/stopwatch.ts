import { doKnownWork, KNOWN_MS } from './known-work.ts';

const LOOK_MS = 20;

/**
 * Tells the milliseconds since it was started, without those by which timers of this process were late: these are a busy machine's.
 * The first question stops it.
 */
export function startStopwatch(): () => number {
    const began = performance.now();
    let lookedAt = began;
    let lateMs = 0;
    const look = () => {
        const now = performance.now();
        lateMs += Math.max(0, now - lookedAt - LOOK_MS);
        lookedAt = now;
    };
    const timer = setInterval(look, LOOK_MS);
    return () => {
        clearInterval(timer);
        look();
        return performance.now() - began - lateMs;
    };
}

/** Milliseconds of CPU that this process would take on a quiet machine for something that is done at once: known work tells how slow it is. */
export function cpuMsOf(work: () => unknown): number {
    const before = measured(doKnownWork);
    const ms = measured(work);
    const knownMs = Math.max(before, measured(doKnownWork));
    return ms * Math.min(1, KNOWN_MS / knownMs);
}

function measured(work: () => unknown): number {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
}
