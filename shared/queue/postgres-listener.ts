import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type OutageLog, watchOutage } from '../outage.ts';

const RETRY_MS = 200;
const PULSE_MS = 1000;
const SILENCE_MS = 2000;

export interface PostgresListener {
    close(): Promise<void>;
}

/**
 * One connection that LISTENs and never stays lost: it is asked for a sign of life each second, and opened anew when it fails.
 * `onListening` runs after each connect, when nothing can be missed any more; what it throws ends that connection too.
 */
export function openListener(options: {
    databaseUrl: string;
    channel: string;
    part: string;
    log: OutageLog;
    onNotification: (payload: string) => void;
    onListening: () => Promise<void>;
}): PostgresListener {
    const outage = watchOutage(options.log, options.part);
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
                outage.down(error);
                await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
            }
        }
    }

    /** Ends by throwing, or when the listener is closed. */
    async function connectAndStay(): Promise<void> {
        const client = new pg.Client({
            connectionString: options.databaseUrl,
            application_name: `routebook-${options.part.replaceAll(' ', '-')}`,
            connectionTimeoutMillis: SILENCE_MS,
            query_timeout: SILENCE_MS,
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
            outage.up();
            pulse = setInterval(() => void client.query('select').catch(lose), PULSE_MS);
            await ended;
        } finally {
            clearInterval(pulse);
            signal.removeEventListener('abort', onClose);
            client.removeAllListeners('notification');
            // Over a connection that went silent the farewell may never be answered.
            const farewell = client.end().catch(() => undefined);
            if (signal.aborted) await Promise.race([farewell, sleep(RETRY_MS)]);
        }
    }
}
