import { parentPort } from 'node:worker_threads';

/** A thread with nothing to do but to look at the clock: when it comes late, the machine stood still, and not the service. */
const EVERY_MS = 10;
const NOTED_MS = 20;

const stalls: { at: number; ms: number }[] = [];
let last = Date.now();
setInterval(() => {
    const now = Date.now();
    const ms = now - last - EVERY_MS;
    last = now;
    if (ms >= NOTED_MS) stalls.push({ at: now, ms });
}, EVERY_MS);

parentPort?.on('message', ({ id, since }: { id: number; since: number }) => {
    const seen = stalls.filter(({ at }) => at >= since).map(({ ms }) => ms);
    parentPort?.postMessage({ id, ms: seen.reduce((sum, ms) => sum + ms, 0) });
});
