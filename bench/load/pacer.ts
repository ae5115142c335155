import { parentPort, workerData } from 'node:worker_threads';

/**
 * A thread that reports when calls are due, evenly spaced from now on. It sleeps in between. Node's own timers have a resolution of a
 * millisecond, which would add half a millisecond to the median time.
 */
const { perSecond } = workerData as { perSecond: number };
const everyMs = 1000 / perSecond;
const nobody = new Int32Array(new SharedArrayBuffer(4));
const start = performance.now();

for (let next = 1; ; next++) {
    Atomics.wait(nobody, 0, 0, Math.max(0, start + next * everyMs - performance.now()));
    parentPort?.postMessage(next);
}
