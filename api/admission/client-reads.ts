import type { IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import type { Arrival, Check } from './check.ts';
import { clientAddress, limitIdentity } from './client-address.ts';

declare module '@hapi/hapi' {
    interface RequestApplicationState {
        /** Ends the request's place among the reads of its client. */
        endRead: (() => void) | undefined;
    }
}

/** Reads of one client address in service at a time: more than a browser asks for, and half of the database's connections. */
const AT_A_TIME = 8;

/** In milliseconds. Short beside the second that a call waits for a connection (goal R9), long beside a read that is served. */
const STALLED_MS = 200;

interface Reads {
    /** When each began, the oldest first. */
    inService: Map<IncomingMessage, number>;
    waiting: { arrival: Arrival; pass: () => void }[];
    /** Set while others wait: looks whether the oldest has stalled. */
    look?: NodeJS.Timeout | undefined;
}

/**
 * Serves a few reads of one client address at a time; the others wait here, before they take a connection to the database. Without it 100
 * connections that read pages, files or lists slow every fetch down tenfold, with a key or without. Look-ups with a key have windows of
 * their own and pass. An answer that is ready holds nobody up, however slowly it is read, nor does a call that waits for something to
 * happen. Once one in service has stalled it is the database that is slow: then none waits here on top of that. What waits is bounded by the
 * open connections.
 * @param stalledMs how long a read is in service until it has stalled
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
        // Those who hung up while they waited are passed over.
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
