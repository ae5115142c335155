import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLog, watchConnection } from './connection-log.ts';
import { type Db, openDb } from './db.ts';
import { openPool } from './postgres-pool.ts';

/** Runs a read-only query, on the replica or on the primary. */
export type Read = <Answer>(question: (db: Db) => Promise<Answer>) => Promise<Answer>;

/** Maximum lag of the replica. With more lag, the primary is used. */
const NEAR_MS = 1000;
const WATCH_EACH_MS = 200;
/** Timeout for reading the log positions of the primary and of the replica each. */
const WATCH_MS = 500;

/**
 * Opens a replica. A query runs on the replica if the replica has replayed everything that the primary had written at some time within the
 * last second. Otherwise, and if the replica fails, the query runs on the primary.
 */
export function openReplica(options: {
    url: string;
    primaryUrl: string;
    /** For queries that do not run on the replica. */
    primary: Db;
    name: string;
    poolSize: number;
    statementTimeoutMs: number;
    idleMs: number;
    log: ConnectionLog;
}): { read: Read; close(): Promise<void> } {
    const { url, primaryUrl, primary, name, poolSize, statementTimeoutMs, idleMs, log } = options;
    const status = watchConnection(log, 'postgres replica');
    const replica = openDb({ url, name, poolSize, statementTimeoutMs, idleMs, onError: status.down });
    const lag = watchLag({ url, primaryUrl, log });
    return {
        async read(question) {
            if (!lag.isNear()) {
                status.down(new Error('the replica cannot be reached, or is more than a second behind'));
                return question(primary);
            }
            try {
                const answer = await question(replica);
                status.up();
                return answer;
            } catch (error) {
                lag.forget();
                status.down(error);
                return question(primary);
            }
        },
        async close() {
            await lag.stop();
            await replica.destroy();
        },
    };
}

/** The end of the primary's write-ahead log, in bytes, and when it was read. */
interface Mark {
    at: number;
    end: number;
}

/** Compares both logs five times a second. Unlike the time of the last transaction, this is also correct while nothing is written. */
function watchLag({ url, primaryUrl, log }: { url: string; primaryUrl: string; log: ConnectionLog }) {
    const open = (part: string, from: string) => openPool({ url: from, part, log, max: 1, timeoutMs: WATCH_MS });
    const [primary, replica] = [open('postgres log end', primaryUrl), open('postgres replica lag', url)];
    let marks: Mark[] = [];
    /** The latest time up to which the replica has all writes. */
    let provenAt = Number.NEGATIVE_INFINITY;

    async function look(): Promise<void> {
        const at = performance.now();
        const written = await primary.query<{ end: number }>("select (pg_current_wal_lsn() - '0/0')::float8 as end");
        marks = [...marks.filter((mark) => at - mark.at <= NEAR_MS), { at, end: written.rows[0]?.end ?? Number.POSITIVE_INFINITY }];
        // A promoted standby writes its own log, so comparing it with the primary's log means nothing.
        const replayed = await replica.query<{ end: number | null }>(
            "select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::float8 end as end",
        );
        const reached = replayed.rows[0]?.end ?? Number.NEGATIVE_INFINITY;
        provenAt = Math.max(provenAt, ...marks.filter(({ end }) => end <= reached).map((mark) => mark.at));
    }

    const stopping = new AbortController();
    const watching = (async () => {
        while (!stopping.signal.aborted) {
            await look().catch(() => undefined);
            await sleep(WATCH_EACH_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
        }
    })();
    return {
        isNear: () => performance.now() - provenAt <= NEAR_MS,
        /** Stops using the replica until both logs have been compared again. */
        forget() {
            provenAt = Number.NEGATIVE_INFINITY;
        },
        async stop() {
            stopping.abort();
            await watching;
            await Promise.all([primary.end(), replica.end()]);
        },
    };
}
