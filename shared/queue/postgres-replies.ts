import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { OutageLog } from '../outage.ts';
import type { Secrets } from '../secrets.ts';
import { REPLY_BATCH, type Reply, type ReplyChannel, type ReplyListener } from './backend.ts';
import { createBatcher } from './batcher.ts';
import { openListener } from './postgres-listener.ts';

const RETRY_MS = 200;
const PURPOSE = 'reply';
/** Channels of processes that open encrypted replies; those of the release before have names without it. */
const SEALED = 'sealed_';

/** One statement: the rows and the wake-ups become visible together; one wake-up for each process that is owed something. */
const SEND = {
    name: 'queue-reply',
    text: `with stored as (
               insert into queue_replies (channel, job, body) select * from unnest($1::text[], $2::text[], $3::text[]) returning channel)
           select pg_notify(channel, null) from (select distinct channel from stored) as woken`,
};
const TAKE = {
    name: 'queue-take',
    text: `delete from queue_replies where id in (select id from queue_replies where channel = $1 order by id limit ${REPLY_BATCH})
           returning job as id, body`,
};
/** Replies to processes that were killed; nobody waits longer than 120 s. */
const SWEEP = `delete from queue_replies where sent_at < app_now() - interval '5 minutes'`;

/** Stores a reply and wakes the process that waits for it; replies that are ready together go as one statement. */
export function openReplySender(pool: pg.Pool, secrets: Secrets): (channel: string, reply: Reply) => Promise<void> {
    const send = createBatcher<Reply & { channel: string }>(
        async (batch) => {
            const values = [batch.map(({ channel }) => channel), batch.map(({ id }) => id), batch.map(({ body }) => body)];
            await pool.query({ ...SEND, values });
        },
        { atOnce: 2, largest: REPLY_BATCH },
    );
    return async (channel, { id, body }) => {
        const isSealed = channel.startsWith(SEALED);
        await send({ channel, id, body: isSealed ? (await secrets.seal(body, PURPOSE)).toString('base64') : body });
    };
}

/**
 * The reply channel in PostgreSQL: rows of an UNLOGGED table, and a notification on a channel of this process's own that says no more
 * than "look". Each look takes whatever is there in batches, so that a lost notification delays a reply and never loses it.
 */
export function openPostgresReplies(options: {
    databaseUrl: string;
    pool: pg.Pool;
    secrets: Secrets;
    log: OutageLog;
    listener: ReplyListener;
}): ReplyChannel {
    const { databaseUrl, pool, secrets, log, listener } = options;
    const name = `${SEALED}replies_${randomBytes(9).toString('hex')}`;
    let looking: Promise<void> | undefined;
    let lookingNext: Promise<void> | undefined;
    let retry: NodeJS.Timeout | undefined;
    const connection = openListener({
        databaseUrl,
        channel: name,
        part: 'postgres replies',
        log,
        onNotification: lookSoon,
        async onListening() {
            await pool.query(SWEEP);
            const settleMissing = await listener.onDoubt();
            await look();
            settleMissing();
        },
    });
    return {
        name,
        async close() {
            await connection.close();
            clearTimeout(retry);
            await looking?.catch(() => undefined);
            await pool.query('delete from queue_replies where channel = $1', [name]).catch(() => undefined);
        },
    };

    /** The rows stay where a look failed, so it only has to be tried again. */
    function lookSoon(): void {
        look().catch(() => {
            clearTimeout(retry);
            retry = setTimeout(lookSoon, RETRY_MS);
        });
    }

    /** Takes everything that was there at the moment of the call. Looks never overlap: a reply is delivered before the next one begins. */
    function look(): Promise<void> {
        if (looking === undefined) {
            looking = drain().finally(() => {
                looking = undefined;
            });
            return looking;
        }
        lookingNext ??= looking
            .catch(() => undefined)
            .then(() => {
                lookingNext = undefined;
                return look();
            });
        return lookingNext;
    }

    async function drain(): Promise<void> {
        // Reads the ring, where it is in the database: rows that were taken could not be put back.
        await secrets.hmac('', PURPOSE);
        for (;;) {
            const { rows } = await pool.query<Reply>({ ...TAKE, values: [name] });
            for (const { id, body } of rows) {
                const opened = await open(body);
                if (opened === undefined) log.warn({ part: 'postgres replies' }, 'a reply was dropped: no key of SECRET_KEYS opens it');
                else listener.onReply({ id, body: opened });
            }
            if (rows.length < REPLY_BATCH) return;
        }
    }

    /** A worker of the release before sends JSON in clear. */
    async function open(body: string): Promise<string | undefined> {
        if (body.startsWith('{')) return body;
        return (await secrets.open(Buffer.from(body, 'base64'), PURPOSE))?.toString();
    }
}
