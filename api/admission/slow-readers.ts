import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Server } from '@hapi/hapi';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { Log } from '../../shared/platform/log.ts';
import { STREAMED_BYTES } from '../../shared/store/jobs/jobs.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { clientAddress, limitIdentity } from './client-address.ts';

/** Longer than any call may wait for its answer (120 s, and the work after it). */
const MAX_WAIT_MS = 130_000;

interface SlowReaderBounds {
    stallMs: number;
    /** Maximum number of bytes of unread answers over all connections of this process. */
    budgetBytes?: number;
    everyMs?: number;
    /** TRUST_PROXY. */
    proxies?: number;
}

const BUDGET_BYTES = 128 * 1024 * 1024;
const EVERY_MS = 250;

/**
 * Until its source has ended, an answer that is streamed keeps more in memory than its unsent bytes: the page that it is built from, which
 * is assumed to have 1 MiB, and each text about three times.
 */
const STREAM_WEIGHT = 3;

interface Sending {
    client: string;
    isStreamed: boolean;
    /** Bytes that its connection had sent at the last look. */
    sent: number;
}

/** The answers that one client has not read. */
interface Unread {
    bytes: number;
    /** Those that have sent nothing since the last look. Oldest first. */
    stalled: UnreadAnswer[];
    moving: UnreadAnswer[];
}

interface UnreadAnswer {
    response: ServerResponse;
    bytes: number;
}

/** A reader may pause for twice the time that a request may take to arrive. */
export const slowReaders: AppPlugin = {
    name: 'slow-readers',
    register(server, { app }) {
        watchSlowReaders(server, app.log, { stallMs: 2 * app.config.arrivalMs, proxies: app.config.trustProxy });
    },
};

/**
 * Closes the connections of clients that do not read their answers, because these answers stay in memory. Node closes a connection without
 * traffic after its timeout, and resets the timeout after the last answer. If unread answers exceed the total budget, connections of the
 * client with the most unread bytes are closed, first those that sent nothing since the last look, and of them the oldest. An answer in
 * one piece counts as unsent until all of it is sent.
 */
export function watchSlowReaders(server: Server, log: Pick<Log, 'warn'>, bounds: SlowReaderBounds): void {
    const { stallMs, budgetBytes = BUDGET_BYTES, everyMs = EVERY_MS, proxies = 0 } = bounds;
    const running = new WeakMap<Socket, number>();
    /** Oldest first. */
    const open = new Map<ServerResponse, Sending>();
    server.ext('onRequest', (request, h) => {
        // A call of this process has no connection, and reads at once.
        if (request.isInjected) return h.continue;
        const { req, res } = request.raw;
        const { socket } = req;
        open.set(res, { client: limitIdentity(clientAddress(req, proxies)), isStreamed: false, sent: 0 });
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
        const sending = open.get(request.raw.res);
        if (sending !== undefined) sending.isStreamed = isStreamed(request);
        return h.continue;
    });

    const timer = setInterval(() => {
        const cut = cutDownTo(budgetBytes, open);
        if (cut.connections > 0) log.warn(cut, 'unread answers exceed the memory budget: their connections were cut');
    }, everyMs).unref();
    server.ext('onPostStop', () => clearInterval(timer));
}

function isStreamed({ response }: Request): boolean {
    return 'variety' in response && response.variety === 'stream';
}

function cutDownTo(budget: number, open: ReadonlyMap<ServerResponse, Sending>): { connections: number; unsent_bytes: number } {
    const unreadOf = new Map<string, Unread>();
    let unsent = 0;
    for (const [response, sending] of open) {
        if (response.writableLength === 0) continue;
        const { socket } = response.req;
        const sent = socket.bytesWritten - socket.writableLength;
        const isMoving = sent > sending.sent;
        sending.sent = sent;
        const client = getOrMake(unreadOf, sending.client, () => ({ bytes: 0, stalled: [], moving: [] }));
        const bytes = bytesOf(response, sending);
        (isMoving ? client.moving : client.stalled).push({ response, bytes });
        client.bytes += bytes;
        unsent += bytes;
    }
    const cut = { connections: 0, unsent_bytes: unsent };
    while (unsent > budget) {
        const most = [...unreadOf.values()].reduce((one, other) =>
            (other.bytes - one.bytes || other.stalled.length - one.stalled.length) > 0 ? other : one,
        );
        const { response, bytes } = (most.stalled.shift() ?? most.moving.shift()) as UnreadAnswer;
        most.bytes -= bytes;
        unsent -= bytes;
        cut.connections++;
        response.req.socket.destroy();
    }
    return cut;
}

/** The memory that an answer keeps until it is read. */
function bytesOf({ writableLength, writableEnded }: ServerResponse, { isStreamed }: Sending): number {
    return isStreamed && !writableEnded ? Math.max(STREAMED_BYTES, STREAM_WEIGHT * writableLength) : writableLength;
}
