import type { Socket } from 'node:net';
import type { Check } from './check.ts';

/** Maximum number of waiting requests of one connection. Normal clients pipeline fewer. */
const MAX_WAITING = 100;

/**
 * Serves the requests of one connection one after another, each in its own turn of the event loop. Thousands of pipelined requests may
 * arrive in one packet, and would all start in the turn that reads it. A connection with too many waiting requests is closed.
 */
export function serialQueue(): Check {
    /** The waiting requests of each connection that is serving one. */
    const queues = new WeakMap<Socket, (() => void)[]>();

    function serveNext(socket: Socket): void {
        const serve = queues.get(socket)?.shift();
        if (socket.destroyed || serve === undefined) return void queues.delete(socket);
        // Clears the timeout that the previous answer set for its reader.
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
        } else if (queue.push(serve) > MAX_WAITING) {
            socket.destroy();
            stopParsing(socket);
        }
    };
}

/** What Node's parser takes for the end of HTTP on a connection. */
const NO_MORE = 2;

/**
 * Stops the parser within the packet that it reads. It would make a request of each of the 2,000 that fit into a packet: 120 packets of one
 * client took six seconds of one turn.
 */
function stopParsing(socket: Socket): void {
    const { parser } = socket as Socket & { parser?: { onIncoming: unknown } | null };
    if (parser != null) parser.onIncoming = () => NO_MORE;
}
