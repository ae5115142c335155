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
 * `onListening` runs after each (re)connect, when nothing can be missed any more; what it throws ends that connection too.
 */
export function openListener(options: {
    databaseUrl: string;
    channel: string;
    part: string;
    log: OutageLog;
    onNotification: (payload: string) => void;
    onListening: (isReconnect: boolean) => Promise<void>;
}): PostgresListener {
    const outage = watchOutage(options.log, options.part);
    let client: pg.Client | undefined;
    const closing = Promise.withResolvers<void>();
    let isClosed = false;
    const living = live();
    return {
        async close() {
            isClosed = true;
            closing.resolve();
            await client?.end().catch(() => undefined);
            await living;
        },
    };

    async function live(): Promise<void> {
        let connections = 0;
        while (!isClosed) {
            try {
                await connectAndStay(connections > 0, () => {
                    connections += 1;
                    outage.up();
                });
            } catch (error) {
                if (isClosed) return;
                outage.down(error);
                await Promise.race([sleep(RETRY_MS), closing.promise]);
            }
        }
    }

    /** Ends by throwing, or when the listener is closed. */
    async function connectAndStay(isReconnect: boolean, onConnected: () => void): Promise<void> {
        const own = new pg.Client({
            connectionString: options.databaseUrl,
            application_name: `routebook-${options.part.replaceAll(' ', '-')}`,
            connectionTimeoutMillis: SILENCE_MS,
            query_timeout: SILENCE_MS,
            keepAlive: true,
        });
        const lost = Promise.withResolvers<never>();
        lost.promise.catch(() => undefined);
        own.on('error', lost.reject);
        own.on('end', () => lost.reject(new Error('the connection ended')));
        own.on('notification', ({ payload }) => options.onNotification(payload ?? ''));
        client = own;
        try {
            await own.connect();
            await own.query(`listen ${own.escapeIdentifier(options.channel)}`);
            onConnected();
            await options.onListening(isReconnect);
            while (!isClosed) {
                const timer = new AbortController();
                await Promise.race([
                    sleep(PULSE_MS, undefined, { signal: timer.signal }).catch(() => undefined),
                    lost.promise,
                    closing.promise,
                ]).finally(() => timer.abort());
                if (!isClosed) await own.query('select');
            }
        } finally {
            own.end().catch(() => undefined);
        }
    }
}
