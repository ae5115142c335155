import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import { openRedis } from '../../platform/redis.ts';
import { REPLY_BATCH, REPLY_TTL_S, type ReplyChannel, type ReplyListener } from './backend.ts';

const BLOCK_MS = 1000;
const RETRY_MS = 200;

/**
 * The reply channel on Redis: one stream for this process, to which workers append. One connection blocks on the stream, delivers the
 * entries and trims them. The stream has a short expiry that is renewed each second, so the stream of a killed process disappears.
 */
export function openRedisReplies(options: {
    redisUrl: string;
    prefix: string;
    log: ConnectionLog;
    listener: ReplyListener;
    /** Deletes a key over a connection that does not block. */
    forget: (key: string) => Promise<unknown>;
}): ReplyChannel {
    const { redisUrl, prefix, log, listener, forget } = options;
    const redis = openRedis(redisUrl, 'reader', 'redis replies', log);
    const name = `${prefix}:replies:${randomBytes(9).toString('base64url')}`;
    let lastId = '0-0';
    let isClosed = false;
    const reading = readUntilClosed();
    return {
        name,
        async close() {
            isClosed = true;
            redis.disconnect();
            await reading;
            await forget(name).catch(() => undefined);
        },
    };

    async function readUntilClosed(): Promise<void> {
        while (!isClosed) {
            try {
                await renew(true);
                await readConnection();
            } catch {
                // The connection logs its own failures. After the reconnect, all open jobs are looked up again.
                if (!isClosed) await sleep(RETRY_MS);
            }
        }
    }

    /** Reads until the connection fails. */
    async function readConnection(): Promise<void> {
        let renewedAt = performance.now();
        while (!isClosed) {
            deliver(await redis.xread('COUNT', REPLY_BATCH, 'BLOCK', BLOCK_MS, 'STREAMS', name, lastId));
            if (performance.now() - renewedAt < BLOCK_MS) continue;
            renewedAt = performance.now();
            await renew(false);
        }
    }

    /**
     * Renews the expiry of the stream. After a reconnect or a recreated stream, replies may have been lost, so all open jobs are checked.
     */
    async function renew(isNewConnection: boolean): Promise<void> {
        const isAlive = (await redis.expire(name, REPLY_TTL_S)) === 1;
        if (!isAlive) await redis.multi().xadd(name, '*', 'made', '1').expire(name, REPLY_TTL_S).exec();
        if (isAlive && !isNewConnection) return;
        const settleMissing = await listener.onDoubt();
        while (deliver(await redis.xread('COUNT', REPLY_BATCH, 'STREAMS', name, lastId)));
        settleMissing();
    }

    /** @returns whether there were entries */
    function deliver(streams: StreamReply): boolean {
        const entries = streams?.[0]?.[1] ?? [];
        const last = entries.at(-1);
        if (last === undefined) return false;
        lastId = last[0];
        redis.xtrim(name, 'MINID', after(lastId)).catch(() => undefined);
        for (const [, fields] of entries) {
            const [idField, id, bodyField, body] = fields;
            if (idField === 'id' && id !== undefined && bodyField === 'body' && body !== undefined) listener.onReply({ id, body });
        }
        return true;
    }
}

type StreamReply = [key: string, entries: [id: string, fields: string[]][]][] | null;

/** The next greater id. A trim from this id removes only entries that were read. */
function after(id: string): string {
    const [ms, sequence] = id.split('-');
    return `${ms}-${Number(sequence) + 1}`;
}
