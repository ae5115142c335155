import type { ConnectionLog } from '../platform/connection-log.ts';

/** Where the processes keep the state that they share. */
export interface StoreOptions {
    databaseUrl: string;
    /** Absent: all of it is in PostgreSQL. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    log: ConnectionLog;
}
