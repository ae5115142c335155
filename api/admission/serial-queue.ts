import type { Socket } from 'node:net';
import type { Check } from './check.ts';

/** Requests that wait on one connection; no client sends more ahead. */
const MOST_WAITING = 100;

/**
 * Serves the requests of one connection one after another, each in its own turn of the event loop. Thousands of pipelined requests come
 * in one packet, and would all begin in the turn that reads it. A connection with too many of them is closed.
 */
export function serialQueue(): Check {
    /** By connection that serves a request: those behind it. */
    const queues = new WeakMap<Socket, (() => void)[]>();

    function serveNext(socket: Socket): void {
        const serve = queues.get(socket)?.shift();
        if (socket.destroyed || serve === undefined) return void queues.delete(socket);
        // The previous answer has set a timeout for its reader.
        socket.setTimeout(0);
        serve();
    }

    return ({ request: { socket }, response }, pass) => {
        if (socket.destroyed) return;
        const serve = () => {
            response.once('close', () => setImmediate(serveNext, socket));
            pass();
        };
        const queue = queues.get(socket);
        if (queue === undefined) {
            queues.set(socket, []);
            serve();
        } else if (queue.push(serve) > MOST_WAITING) socket.destroy();
    };
}
