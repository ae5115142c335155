import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { Arrival, Check } from './check.ts';
import { clientAddress, limitIdentity } from './client-address.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        /** Releases the slot among the reads of its client. */
        endRead: (() => void) | undefined;
    }
}

/** Concurrent reads of one client address: more than a browser sends, and half of the database's connections. */
const AT_A_TIME = 8;

/**
 * A read that takes longer counts as stalled, in milliseconds. Much shorter than the second that a call waits for a database connection
 * (goal R9), much longer than a normal read.
 */
const STALLED_MS = 200;

interface Reads {
    /** Start times, oldest first. */
    inService: Map<IncomingMessage, number>;
    waiting: { arrival: Arrival; pass: () => void }[];
    /** Set while requests wait: the timer that checks whether the oldest read has stalled. */
    look?: NodeJS.Timeout | undefined;
}

/**
 * Limits the concurrent reads of one client address; further reads wait here, before they take a database connection. Without this limit,
 * 100 connections that read pages, files or lists make every fetch ten times slower, with a key or without. Look-ups with a key have their
 * own rate limits and are not limited here. A finished answer releases its slot, even if the client reads it slowly, and so does a call
 * that waits for an event. A stalled read means that the database is slow; then waiting reads start at once. The limit on open connections
 * bounds the number of waiting reads.
 * @param stalledMs milliseconds after which a read counts as stalled
 */
export function clientReads(server: Server, { config: { trustProxy } }: App, stalledMs = STALLED_MS): Check {
    const readsOf = new Map<string, Reads>();
    const ends = new WeakMap<IncomingMessage, () => void>();
    server.ext('onPreHandler', (request, h) => {
        request.app.endRead = ends.get(request.raw.req);
        return h.continue;
    });
    server.ext('onPreResponse', ({ raw: { req } }, h) => {
        ends.get(req)?.();
        return h.continue;
    });

    function begin(client: string, reads: Reads, { arrival: { request, response }, pass }: Reads['waiting'][number]): void {
        reads.inService.set(request, performance.now());
        const end = () => {
            if (!ends.delete(request)) return;
            reads.inService.delete(request);
            if (reads.inService.size < AT_A_TIME) beginNext(client, reads);
            if (reads.inService.size > 0) return;
            clearTimeout(reads.look);
            readsOf.delete(client);
        };
        ends.set(request, end);
        response.once('close', end);
        pass();
    }

    function beginNext(client: string, reads: Reads): void {
        // Skips callers who hung up while they waited.
        const next = reads.waiting.splice(0, reads.waiting.findIndex(isConnected) + 1).at(-1);
        if (next === undefined) reads.waiting = [];
        else begin(client, reads, next);
    }

    /** Milliseconds until the oldest read in service has stalled. */
    function untilStalled({ inService }: Reads): number {
        const [oldest = performance.now()] = inService.values();
        return oldest + stalledMs - performance.now();
    }

    function lookForStall(client: string, reads: Reads): void {
        reads.look ??= setTimeout(() => {
            reads.look = undefined;
            if (untilStalled(reads) <= 0) while (reads.waiting.length > 0) beginNext(client, reads);
            else if (reads.waiting.length > 0) lookForStall(client, reads);
        }, untilStalled(reads));
    }

    return (arrival, pass) => {
        const { request, contract } = arrival;
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        const isCounted = contract?.counted === true && request.headers.authorization !== undefined;
        if (!isRead || isCounted) return pass();
        const client = limitIdentity(clientAddress(request, trustProxy));
        const reads: Reads = readsOf.get(client) ?? { inService: new Map(), waiting: [] };
        readsOf.set(client, reads);
        if (reads.inService.size < AT_A_TIME || untilStalled(reads) <= 0) return begin(client, reads, { arrival, pass });
        reads.waiting.push({ arrival, pass });
        lookForStall(client, reads);
    };
}

function isConnected({ arrival }: { arrival: Arrival }): boolean {
    return !arrival.request.socket.destroyed;
}
