import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLog, watchConnection } from './connection-log.ts';
import { type Db, openDb } from './db.ts';
import { openPool } from './postgres-pool.ts';

/** Asks a question that only reads, of the replica or of the primary. */
export type Read = <Answer>(question: (db: Db) => Promise<Answer>) => Promise<Answer>;

interface Replica {
    read: Read;
    close(): Promise<void>;
}

/** A replica that is further behind than this, in milliseconds, is not asked. */
const NEAR_MS = 1000;
const WATCH_EACH_MS = 200;
/** Timeout for asking the primary and the replica for their positions, in milliseconds each. */
const WATCH_MS = 500;

/**
 * Opens a standby. It is asked while it has replayed what the primary had written at some moment of the last second; otherwise, and where
 * it fails, the primary is asked.
 */
export function openReplica(options: {
    url: string;
    primaryUrl: string;
    /** For the questions that the replica does not answer. */
    primary: Db;
    name: string;
    poolSize: number;
    statementTimeoutMs: number;
    log: ConnectionLog;
}): Replica {
    const { url, primaryUrl, primary, name, poolSize, statementTimeoutMs, log } = options;
    const status = watchConnection(log, 'postgres replica');
    const replica = openDb({ url, name, poolSize, statementTimeoutMs, onError: status.down });
    const lag = watchLag({ url, primaryUrl, log });
    return {
        async read(question) {
            if (!lag.isNear()) {
                status.down(new Error('it cannot be reached, or is more than a second behind'));
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

/** Where the write-ahead log of the primary ended, in bytes, and when. */
interface Mark {
    at: number;
    end: number;
}

/** Compares both logs five times a second: unlike the time of the last transaction this is right while nothing is written, too. */
function watchLag({ url, primaryUrl, log }: { url: string; primaryUrl: string; log: ConnectionLog }) {
    const open = (part: string, from: string) => openPool({ url: from, part, log, max: 1, timeoutMs: WATCH_MS });
    const [primary, replica] = [open('postgres log end', primaryUrl), open('postgres replica lag', url)];
    let marks: Mark[] = [];
    /** The latest moment whose writes the replica has. */
    let provenAt = Number.NEGATIVE_INFINITY;

    async function look(): Promise<void> {
        const at = performance.now();
        const written = await primary.query<{ end: number }>("select (pg_current_wal_lsn() - '0/0')::float8 as end");
        marks = [...marks.filter((mark) => at - mark.at <= NEAR_MS), { at, end: written.rows[0]?.end ?? Number.POSITIVE_INFINITY }];
        // A standby that was promoted goes its own way, which the primary's log does not tell.
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
        /** Distrusts the replica until both were checked again. */
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
