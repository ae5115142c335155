import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Server } from '@hapi/hapi';
import type { Log } from '../../shared/platform/log.ts';
import type { AppPlugin } from '../plugins/plugin.ts';

/** Longer than any call may wait for its answer (120 s, and the work after it). */
const MAX_WAIT_MS = 130_000;

interface SlowReaderBounds {
    /** How long a reader may pause. */
    stallMs: number;
    /** Maximum number of bytes of unread answers over all connections of this process. */
    budgetBytes?: number;
    /** How often the total is checked. */
    everyMs?: number;
}

const BUDGET_BYTES = 128 * 1024 * 1024;
const EVERY_MS = 250;

/** A reader may pause for twice the time that a request may take to arrive. */
export const slowReaders: AppPlugin = {
    name: 'slow-readers',
    register(server, { app }) {
        watchSlowReaders(server, app.log, { stallMs: 2 * app.config.arrivalMs });
    },
};

/**
 * Closes the connections of clients that do not read their answers, because these answers stay in memory. Node closes a connection without
 * traffic after its timeout, and resets the timeout after the last answer. If unread answers exceed the total budget, the connections that
 * have waited longest are closed.
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
            // The next pipelined request may take until MAX_WAIT_MS to be answered.
            if (left > 0) socket.setTimeout(MAX_WAIT_MS);
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
