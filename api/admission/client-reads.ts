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

interface Reads {
    inService: number;
    waiting: { arrival: Arrival; pass: () => void }[];
}

/**
 * Serves a few reads of one client address at a time; the others wait here, before they take a connection to the database. Without it 100
 * connections that read pages, files or lists slow every fetch down tenfold, with a key or without. Look-ups with a key have windows of
 * their own and pass. An answer that is ready holds nobody up, however slowly it is read, nor does a call that waits for something to happen. What waits is bounded by the open connections.
 */
export function clientReads(server: Server, { config: { trustProxy } }: App): Check {
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

    function begin(client: string, reads: Reads, { request, response }: Arrival, pass: () => void): void {
        reads.inService += 1;
        const end = () => {
            if (!ends.delete(request)) return;
            reads.inService -= 1;
            // Those who hung up while they waited are passed over.
            const next = reads.waiting.splice(0, reads.waiting.findIndex(isThere) + 1).at(-1);
            if (next !== undefined) begin(client, reads, next.arrival, next.pass);
            else if (reads.inService === 0) readsOf.delete(client);
        };
        ends.set(request, end);
        response.once('close', end);
        pass();
    }

    return (arrival, pass) => {
        const { request, contract } = arrival;
        const isRead = request.method === 'GET' || request.method === 'HEAD';
        const isCounted = contract?.counted === true && request.headers.authorization !== undefined;
        if (!isRead || isCounted) return pass();
        const client = limitIdentity(clientAddress(request, trustProxy));
        const reads = readsOf.get(client) ?? { inService: 0, waiting: [] };
        readsOf.set(client, reads);
        if (reads.inService < AT_A_TIME) begin(client, reads, arrival, pass);
        else reads.waiting.push({ arrival, pass });
    };
}

function isThere({ arrival }: { arrival: Arrival }): boolean {
    return !arrival.request.socket.destroyed;
}
