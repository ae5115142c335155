import { parentPort, workerData } from 'node:worker_threads';

/**
 * A thread that says when calls are due, evenly spaced from now on: it sleeps until then. Node's own timers are a millisecond apart,
 * which put half a millisecond on the time of the median call.
 */
const { perSecond } = workerData as { perSecond: number };
const everyMs = 1000 / perSecond;
const nobody = new Int32Array(new SharedArrayBuffer(4));
const start = performance.now();

for (let next = 1; ; next++) {
    Atomics.wait(nobody, 0, 0, Math.max(0, start + next * everyMs - performance.now()));
    parentPort?.postMessage(next);
}
