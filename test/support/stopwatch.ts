import { doKnownWork, KNOWN_MS } from './known-work.ts';

const LOOK_MS = 20;

/**
 * Starts a stopwatch. The first call stops it and returns the milliseconds since the start. Delays of this process's timers do not count,
 * since a busy machine causes them.
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

/** CPU milliseconds that synchronous work would take on a quiet machine. Known work shows how slow this machine is. */
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
