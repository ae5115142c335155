import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';

const RETRY_MS = 200;
const PULSE_MS = 1000;
const STALL_MS = 2000;

/**
 * Opens a connection that LISTENs. It is checked once a second and reopened when it fails. `onListening` runs after each connect; from then
 * on no notification is missed. An error in `onListening` also closes the connection.
 */
export function openListener(options: {
    databaseUrl: string;
    channel: string;
    part: string;
    log: ConnectionLog;
    onNotification: (payload: string) => void;
    onListening: () => Promise<void>;
}): { close(): Promise<void> } {
    const status = watchConnection(options.log, options.part);
    const closing = new AbortController();
    const { signal } = closing;
    const living = live();
    return {
        async close() {
            closing.abort();
            await living;
        },
    };

    async function live(): Promise<void> {
        while (!signal.aborted) {
            try {
                await connectAndStay();
            } catch (error) {
                if (signal.aborted) return;
                status.down(error);
                await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
            }
        }
    }

    /** Resolves when the listener is closed. @throws when the connection fails */
    async function connectAndStay(): Promise<void> {
        const client = new pg.Client({
            connectionString: options.databaseUrl,
            application_name: `routebook-${options.part.replaceAll(' ', '-')}`,
            connectionTimeoutMillis: STALL_MS,
            query_timeout: STALL_MS,
            keepAlive: true,
        });
        const { promise: ended, resolve: end, reject: lose } = Promise.withResolvers<void>();
        ended.catch(() => undefined);
        client.on('error', lose);
        client.on('end', () => lose(new Error('the connection ended')));
        client.on('notification', ({ payload }) => options.onNotification(payload ?? ''));
        const onClose = () => end();
        signal.addEventListener('abort', onClose);
        let pulse: NodeJS.Timeout | undefined;
        try {
            await client.connect();
            await client.query(`listen ${client.escapeIdentifier(options.channel)}`);
            await options.onListening();
            status.up();
            pulse = setInterval(() => void client.query('select').catch(lose), PULSE_MS);
            await ended;
        } finally {
            clearInterval(pulse);
            signal.removeEventListener('abort', onClose);
            client.removeAllListeners('notification');
            // A stalled connection never answers the end message.
            const farewell = client.end().catch(() => undefined);
            if (signal.aborted) await Promise.race([farewell, sleep(RETRY_MS)]);
        }
    }
}
