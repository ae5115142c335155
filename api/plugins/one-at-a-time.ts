import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Server } from '@hapi/hapi';
import { atListener } from './at-listener.ts';

/** Requests that wait on one connection; no client sends more ahead. */
const MOST_WAITING = 100;

/**
 * Serves the requests of one connection one after another, each in a turn of the event loop of its own. Thousands of pipelined requests
 * come in one packet, and would all begin in the turn that reads it. A connection with too many of them is closed. Register it last, so
 * that it looks first.
 */
export function oneAtATime(server: Server): void {
    /** By connection that serves a request: those behind it. */
    const lines = new WeakMap<Socket, (() => void)[]>();

    atListener(server, ({ socket }: IncomingMessage, response, pass) => {
        if (socket.destroyed) return;
        const serve = () => {
            response.once('close', () => setImmediate(serveNext, socket));
            pass();
        };
        const line = lines.get(socket);
        if (line === undefined) {
            lines.set(socket, []);
            serve();
        } else if (line.push(serve) > MOST_WAITING) socket.destroy();
    });

    function serveNext(socket: Socket): void {
        const serve = lines.get(socket)?.shift();
        if (socket.destroyed || serve === undefined) return void lines.delete(socket);
        // The answer before has set one for its reader.
        socket.setTimeout(0);
        serve();
    }
}
