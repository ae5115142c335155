import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { createSerialRuns } from '../../platform/serial-runs.ts';
import { base64InTurns, textInTurns, toBase64InTurns } from '../../platform/turns.ts';
import { REPLY_BATCH, type Reply, type ReplyChannel, type ReplyListener } from './backend.ts';
import { openListener } from './postgres-listener.ts';

const RETRY_MS = 200;
const LONG = 256 * 1024;
const PURPOSE = 'reply';

const TAKE = {
    name: 'queue-take',
    text: `delete from queue_replies where id in (select id from queue_replies where channel = $1 order by id limit ${REPLY_BATCH})
           returning job as id, body`,
};
/** Deletes replies that nobody read, because their process was killed. Callers wait for at most 120 s. */
const SWEEP = `delete from queue_replies where sent_at < app_now() - interval '5 minutes'`;

export async function sealReply(secrets: Secrets, body: string): Promise<string> {
    return toBase64InTurns(await secrets.seal(body, PURPOSE));
}

/**
 * The reply channel in PostgreSQL: rows of an UNLOGGED table, and a notification without payload on the channel of this process. Each read
 * takes all rows, in batches. So a lost notification delays a reply but never loses it.
 */
export function openPostgresReplies(options: {
    databaseUrl: string;
    pool: pg.Pool;
    secrets: Secrets;
    log: ConnectionLog;
    listener: ReplyListener;
}): ReplyChannel {
    const { databaseUrl, pool, secrets, log, listener } = options;
    const name = `sealed_replies_${randomBytes(9).toString('hex')}`;
    const reads = createSerialRuns(takeRows);
    let retry: NodeJS.Timeout | undefined;
    const connection = openListener({
        databaseUrl,
        channel: name,
        part: 'postgres replies',
        log,
        onNotification: readSoon,
        async onListening() {
            await pool.query(SWEEP);
            const settleMissing = await listener.onDoubt();
            await reads.now();
            settleMissing();
        },
    });
    return {
        name,
        async close() {
            await connection.close();
            clearTimeout(retry);
            await reads.idle().catch(() => undefined);
            await pool.query('delete from queue_replies where channel = $1', [name]).catch(() => undefined);
        },
    };

    /** A failed read leaves the rows in the table, so the next read takes them. */
    function readSoon(): void {
        reads.now().catch(() => {
            clearTimeout(retry);
            retry = setTimeout(readSoon, RETRY_MS);
        });
    }

    async function takeRows(): Promise<void> {
        // Loads the key ring first, if it is in the database, because deleted rows cannot be restored.
        await secrets.hmac('', PURPOSE);
        for (;;) {
            const { rows } = await pool.query<Reply>({ ...TAKE, values: [name] });
            for (const { id, body } of rows) {
                // The driver needed a whole turn of the event loop to read a long row.
                if (body.length > LONG) await nextTurn();
                const opened = await open(body);
                if (opened === undefined) log.warn({ part: 'postgres replies' }, 'a reply was dropped: no key of SECRET_KEYS decrypts it');
                else listener.onReply({ id, body: opened });
            }
            if (rows.length < REPLY_BATCH) return;
        }
    }

    async function open(body: string): Promise<string | undefined> {
        const opened = await secrets.open(await base64InTurns(body), PURPOSE);
        return opened && textInTurns(opened);
    }
}
