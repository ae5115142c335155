import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createCounts } from '../../shared/platform/counts.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { peerIdentity } from './client-address.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Share of the listener's maximum connections above which an idle connection is closed for each new one. */
const CROWDED = 0.8;

/**
 * Limits the connections of one client address (CLIENT_CONNECTIONS, CLIENT_CONNECTIONS_PER_SECOND; 0 means no limit). A connection beyond a
 * limit is closed without an answer, before anything is read. While the listener is nearly full, each new connection closes the one that
 * has been idle longest. A connection is idle while none of its requests is being answered, even if the headers of a request are still
 * arriving.
 */
export const connectionBounds: AppPlugin = {
    name: 'connection-bounds',
    register({ listener }, { app }) {
        const { clientConnections, clientConnectionsPerSecond, maxConnections } = app.config;
        listener.maxConnections = maxConnections;
        const openByClient = createCounts();
        const newOnes = createTokenBuckets({ capacity: clientConnectionsPerSecond, perSecond: clientConnectionsPerSecond });
        // A set keeps insertion order: the first member has been idle longest.
        const idle = new Set<Socket>();
        let open = 0;

        const close = (socket: Socket, reason: 'open' | 'rate' | 'idle') => {
            app.metrics.connectionsRefused.inc({ reason });
            socket.destroy();
        };

        listener.on('drop', () => app.metrics.connectionsRefused.inc({ reason: 'full' }));
        listener.prependListener('connection', (socket: Socket) => {
            const client = peerIdentity(socket);
            if (clientConnections > 0 && openByClient.of(client) >= clientConnections) return close(socket, 'open');
            if (clientConnectionsPerSecond > 0 && !newOnes.take(client)) return close(socket, 'rate');
            if (open >= CROWDED * maxConnections) {
                const [longest] = idle;
                if (longest !== undefined) close(longest, 'idle');
            }
            open += 1;
            openByClient.add(client, 1);
            idle.add(socket);
            socket.once('close', () => {
                open -= 1;
                idle.delete(socket);
                openByClient.add(client, -1);
            });
        });
        // With `Expect: 100-continue` Node emits the other event.
        for (const event of ['request', 'checkContinue']) {
            listener.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
                idle.delete(socket);
                response.once('close', () => {
                    if (!socket.destroyed) idle.add(socket);
                });
            });
        }
    },
};
