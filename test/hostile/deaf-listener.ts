import { createServer } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** Listens and then accepts no connection, since this thread's event loop is blocked. Reports its port first. */
const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    const address = server.address();
    parentPort?.postMessage(typeof address === 'object' ? address?.port : undefined);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
