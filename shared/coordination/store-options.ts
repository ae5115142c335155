import type { ConnectionLog } from '../platform/connection-log.ts';

/** The stores of what processes share. */
export interface StoreOptions {
    databaseUrl: string;
    /** Absent: all of it is in PostgreSQL. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    log: ConnectionLog;
}
