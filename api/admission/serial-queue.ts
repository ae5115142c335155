import type { Socket } from 'node:net';
import type { Check } from './check.ts';

/** Maximum number of waiting requests of one connection. Normal clients pipeline fewer. */
const MAX_WAITING = 100;
/**
 * While more requests wait on all connections of a process, none may have more than one. Many clients that never pipeline have one, sent
 * before the end of the last response was noticed. Each waiting request costs 60 µs when its connection ends, and all may end in one turn.
 */
const MAX_WAITING_IN_ALL = 1000;

/**
 * Serves the requests of one connection one after another, each in its own turn of the event loop. Thousands of pipelined requests may
 * arrive in one packet, and would all start in the turn that reads it. A connection with too many waiting requests is closed.
 */
export function serialQueue(): Check {
    /** The waiting requests of each connection that is serving one. */
    const queues = new WeakMap<Socket, (() => void)[]>();
    let waiting = 0;

    function serveNext(socket: Socket): void {
        const queue = queues.get(socket) ?? [];
        const serve = socket.destroyed ? undefined : queue.shift();
        if (serve === undefined) {
            waiting -= queue.length;
            return void queues.delete(socket);
        }
        waiting -= 1;
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
            return serve();
        }
        waiting += 1;
        if (queue.push(serve) > (waiting > MAX_WAITING_IN_ALL ? 1 : MAX_WAITING)) {
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
