import type { Socket } from 'node:net';
import type { Server } from '@hapi/hapi';

/** Longer than any call may wait for its answer (120 s and what is done after it). */
const LONGEST_WAIT_MS = 130_000;

/**
 * Cuts the connection of a caller who asks and then does not read: an answer that nobody takes would stay in memory for ever.
 * Node ends a connection whose timeout passes without a byte going either way, and sets its own again when the last answer is out.
 * @param stallMs how long a reader may pause
 */
export function slowReaders(server: Server, stallMs: number): void {
    const running = new WeakMap<Socket, number>();
    server.ext('onRequest', (request, h) => {
        const { req, res } = request.raw;
        const { socket } = req;
        running.set(socket, (running.get(socket) ?? 0) + 1);
        res.once('close', () => {
            const left = (running.get(socket) ?? 1) - 1;
            running.set(socket, left);
            // The answer of the next pipelined request may take its time.
            if (left > 0) socket.setTimeout(LONGEST_WAIT_MS);
        });
        return h.continue;
    });
    server.ext('onPreResponse', (request, h) => {
        request.raw.req.socket.setTimeout(stallMs);
        return h.continue;
    });
}
