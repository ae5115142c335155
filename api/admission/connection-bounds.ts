import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AppPlugin } from '../plugins/plugin.ts';
import { peerIdentity } from './client-address.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** From this share of the listener's places on, idle connections make room for new ones. */
const CROWDED = 0.8;

/**
 * Bounds what one client address may open (CLIENT_CONNECTIONS, CLIENT_CONNECTIONS_PER_SECOND; 0 is no bound): one too many is closed
 * unanswered, before a byte of it is read. Where the listener is crowded, the connection that has been idle for longest is closed for each
 * new one. A connection is idle while no request of it is being answered, headers that are still on their way included.
 */
export const connectionBounds: AppPlugin = {
    name: 'connection-bounds',
    register({ listener }, { app }) {
        const { clientConnections, clientConnectionsPerSecond, maxConnections } = app.config;
        listener.maxConnections = maxConnections;
        const openByClient = new Map<string, number>();
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
            const ofClient = openByClient.get(client) ?? 0;
            if (clientConnections > 0 && ofClient >= clientConnections) return close(socket, 'open');
            if (clientConnectionsPerSecond > 0 && !newOnes.take(client)) return close(socket, 'rate');
            if (open >= CROWDED * maxConnections) {
                const [longest] = idle;
                if (longest !== undefined) close(longest, 'idle');
            }
            open += 1;
            openByClient.set(client, ofClient + 1);
            idle.add(socket);
            socket.once('close', () => {
                open -= 1;
                idle.delete(socket);
                const left = (openByClient.get(client) ?? 1) - 1;
                if (left === 0) openByClient.delete(client);
                else openByClient.set(client, left);
            });
        });
        listener.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
            idle.delete(socket);
            response.once('close', () => {
                if (!socket.destroyed) idle.add(socket);
            });
        });
    },
};
