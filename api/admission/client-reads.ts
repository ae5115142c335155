import type { IncomingMessage } from 'node:http';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import type { Arrival, Check } from './check.ts';
import { clientAddress, limitIdentity } from './client-address.ts';
import { createReadRefusal } from './rejections.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        /** Releases the slot among the reads of its client. */
        endRead: (() => void) | undefined;
    }
}

/** Concurrent reads of one client address: more than a browser sends, and half of the database's connections. */
const AT_A_TIME = 8;

/** How long a read waits for a slot: as long as a call waits for a database connection (goal R9). */
const PATIENCE_MS = 1000;

/** A read that takes longer is slow: less than one of a database whose queries take 500 ms (goal R9). */
const SLOW_MS = 400;

/** The event loop utilization above which reads are slow because of this process. While PostgreSQL is slow, it is about 0.1. */
const BUSY = 0.8;

const WORDS = 'Too many reads from your address are in progress. Try again in a moment.';

interface Waiting {
    arrival: Arrival;
    pass: () => void;
    /** The event loop utilization when `patience` was last started. */
    utilization: EventLoopUtilization;
    patience: NodeJS.Timeout;
}

interface Reads {
    /** Start times, oldest first. */
    inService: Map<IncomingMessage, number>;
    /** Oldest first. */
    waiting: Set<Waiting>;
}

/**
 * Limits the concurrent reads of one client address; further reads wait here, before they take a database connection. Without this limit,
 * 100 connections that read pages, files or lists make every fetch ten times slower, with a key or without. Look-ups with a key have their
 * own rate limits and are not limited here. A finished answer releases its slot, even if the client reads it slowly, and so does a call
 * that waits for an event. A read that waits for slow ones gets 503 SERVICE_UNAVAILABLE after a second: while the database is slow, nobody
 * waits longer for a slot than for a connection, and one client has at most eight slow reads. Reads that wait for fast ones are all answered.
 * If this process or its machine is busy, they are too: otherwise a client with 32 reads in progress got 503 for a fifth of them. The limit
 * on open connections bounds the number of waiting reads.
 * @param limits how long a read waits, after which time a read is slow, and above which event loop utilization this process is busy
 */
export function clientReads(server: Server, app: App, { patienceMs = PATIENCE_MS, slowMs = SLOW_MS, busyAbove = BUSY } = {}): Check {
    const refuse = createReadRefusal(server, app, { words: WORDS, message: 'reads were rejected: one client has too many in progress' });
    const readsOf = new Map<string, Reads>();
    const ends = new WeakMap<IncomingMessage, () => void>();
    server.ext('onRequest', (request, h) => {
        request.app.endRead = ends.get(request.raw.req);
        return h.continue;
    });
    server.ext('onPreResponse', ({ raw: { req } }, h) => {
        ends.get(req)?.();
        return h.continue;
    });

    function begin(client: string, reads: Reads, { arrival: { request, response }, pass }: Pick<Waiting, 'arrival' | 'pass'>): void {
        reads.inService.set(request, performance.now());
        const end = () => {
            if (!ends.delete(request)) return;
            reads.inService.delete(request);
            beginNext(client, reads);
            if (reads.inService.size === 0) readsOf.delete(client);
        };
        ends.set(request, end);
        response.once('close', end);
        pass();
    }

    function beginNext(client: string, reads: Reads): void {
        for (const next of reads.waiting) {
            stopWaiting(reads, next);
            // Skips callers who hung up while they waited.
            if (isConnected(next)) {
                begin(client, reads, next);
                return;
            }
        }
    }

    function isSlow({ inService }: Reads): boolean {
        const [oldest = performance.now()] = inService.values();
        return performance.now() - oldest >= slowMs;
    }

    return (arrival, pass) => {
        const { request, contract } = arrival;
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        const isCounted = contract?.counted === true && request.headers.authorization !== undefined;
        if (!isRead || isCounted) return pass();
        const client = limitIdentity(clientAddress(request, app.config.trustProxy));
        const reads = getOrMake(readsOf, client, (): Reads => ({ inService: new Map(), waiting: new Set() }));
        if (reads.inService.size < AT_A_TIME) return begin(client, reads, { arrival, pass });
        const judge = () => {
            const { utilization } = performance.eventLoopUtilization(waiting.utilization);
            if (!isSlow(reads) || utilization > busyAbove) {
                waiting.utilization = performance.eventLoopUtilization();
                return waiting.patience.refresh();
            }
            stopWaiting(reads, waiting);
            if (isConnected(waiting)) refuse(arrival, pass);
        };
        const utilization = performance.eventLoopUtilization();
        const waiting: Waiting = { arrival, pass, utilization, patience: setTimeout(judge, patienceMs).unref() };
        reads.waiting.add(waiting);
    };
}

function stopWaiting({ waiting }: Reads, one: Waiting): void {
    clearTimeout(one.patience);
    waiting.delete(one);
}

function isConnected({ arrival }: Waiting): boolean {
    return !arrival.request.socket.destroyed;
}
