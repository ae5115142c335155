import type { Socket } from 'node:net';
import { createCounts } from '../../shared/platform/counts.ts';
import type { Check } from './check.ts';
import { peerIdentity } from './client-address.ts';

/** Maximum number of waiting requests of one connection. Normal clients pipeline fewer. */
const MAX_WAITING = 100;
/**
 * While more requests than this wait in the process, a client address with more than MAX_WAITING of them may have only one per connection.
 * One is allowed because clients that never pipeline may send it before they notice the end of the last response. Each waiting request costs
 * 60 µs when its connection ends, and all may end in one turn.
 */
const MAX_WAITING_IN_ALL = 1000;

interface Queue {
    client: string;
    requests: (() => void)[];
}

/**
 * Serves the requests of one connection one after another, each in its own turn of the event loop. Thousands of pipelined requests may
 * arrive in one packet, and would all start in the turn that reads it. A connection with too many waiting requests is closed.
 */
export function serialQueue(): Check {
    /** The waiting requests of each connection that is serving one. */
    const queues = new WeakMap<Socket, Queue>();
    const waitingOf = createCounts();
    let waiting = 0;

    function count(client: string, change: number): void {
        waiting += change;
        waitingOf.add(client, change);
    }

    function serveNext(socket: Socket): void {
        const queue = queues.get(socket);
        if (queue === undefined) return;
        const serve = socket.destroyed ? undefined : queue.requests.shift();
        if (serve === undefined) {
            count(queue.client, -queue.requests.length);
            return void queues.delete(socket);
        }
        count(queue.client, -1);
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
            queues.set(socket, { client: peerIdentity(socket), requests: [] });
            return serve();
        }
        count(queue.client, 1);
        const isCrowding = waiting > MAX_WAITING_IN_ALL && waitingOf.of(queue.client) > MAX_WAITING;
        if (queue.requests.push(serve) > (isCrowding ? 1 : MAX_WAITING)) {
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
