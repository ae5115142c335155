import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Server } from '@hapi/hapi';
import type { Log } from '../../shared/platform/log.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Longer than any call may wait for its answer (120 s and what is done after it). */
const LONGEST_WAIT_MS = 130_000;

interface SlowReaderBounds {
    /** How long a reader may pause. */
    stallMs: number;
    /** The most bytes of unread answers over all connections of this process. */
    budgetBytes?: number;
    /** How often the total is checked. */
    everyMs?: number;
}

const BUDGET_BYTES = 128 * 1024 * 1024;
const EVERY_MS = 250;

/** Two times the time that a request may take to arrive is long enough to read on. */
export const slowReaders: AppPlugin = {
    name: 'slow-readers',
    register(server, { app }) {
        watchSlowReaders(server, app.log, { stallMs: 2 * app.config.arrivalMs });
    },
};

/**
 * Closes the connection of a client that does not read its answers: they would stay in memory. Node closes a connection whose timeout
 * passes without traffic, and resets the timeout after the last answer. Over the total budget, the connections that have waited longest are
 * closed first.
 */
export function watchSlowReaders(server: Server, log: Pick<Log, 'warn'>, bounds: SlowReaderBounds): void {
    const { stallMs, budgetBytes = BUDGET_BYTES, everyMs = EVERY_MS } = bounds;
    const running = new WeakMap<Socket, number>();
    /** Oldest first. */
    const open = new Set<ServerResponse>();
    server.ext('onRequest', (request, h) => {
        const { req, res } = request.raw;
        const { socket } = req;
        open.add(res);
        running.set(socket, (running.get(socket) ?? 0) + 1);
        res.once('close', () => {
            open.delete(res);
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

    const timer = setInterval(() => {
        const cut = cutDownTo(budgetBytes, open);
        if (cut.connections > 0) log.warn(cut, 'too many answers wait for readers that do not read: their connections were cut');
    }, everyMs).unref();
    server.ext('onPostStop', () => clearInterval(timer));
}

function cutDownTo(budget: number, open: ReadonlySet<ServerResponse>): { connections: number; unsent_bytes: number } {
    let unsent = 0;
    for (const response of open) unsent += response.writableLength;
    const cut = { connections: 0, unsent_bytes: unsent };
    for (const response of open) {
        if (unsent <= budget) break;
        if (response.writableLength === 0) continue;
        unsent -= response.writableLength;
        cut.connections++;
        response.req.socket.destroy();
    }
    return cut;
}
