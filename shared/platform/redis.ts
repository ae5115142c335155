import type { Writable } from 'node:stream';
import { type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis';
import { type ConnectionLog, watchConnection } from './connection-log.ts';
import { isSentinelUrl, parseSentinelUrl } from './redis-url.ts';

/**
 * A fixed short delay between reconnects, also while Redis loads its file. With the default back-off the first job after a 30 s outage
 * waited 7.8 s, with this delay 7 ms.
 */
const RETRY_MS = 200;
/** A connection that awaits a reply and receives nothing for this long is reopened (goal R5: detection within 3 s). */
const SILENCE_MS = 2500;

/**
 * `producer`: serves callers. Commands wait for the first connection attempt, so that a new process refuses no calls. Later they fail
 * immediately without a connection. Guard commands by a stall detector (stall-detector.ts).
 * `worker`: commands wait for the connection without a limit, and are sent again after a reconnect.
 * `reader`: blocking reads. A read fails with its connection, so that the reader can continue from its last position.
 */
type RedisProfile = 'producer' | 'worker' | 'reader';

const PROFILES: Record<RedisProfile, CommonRedisOptions> = {
    producer: { enableOfflineQueue: true, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    worker: { enableOfflineQueue: true, maxRetriesPerRequest: null },
    reader: { enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
};

/**
 * Opens a connection that always reconnects; close it with `disconnect()`. `part` is its name in the log and in CLIENT LIST. With a URL
 * of Sentinels each attempt asks them for the primary again, so that it follows a failover.
 */
export function openRedis(url: string, profile: RedisProfile, part: string, log: ConnectionLog): Redis {
    const options = {
        ...PROFILES[profile],
        retryStrategy: () => RETRY_MS,
        maxLoadingRetryTime: RETRY_MS,
        connectTimeout: 2000,
        socketTimeout: SILENCE_MS,
        keepAlive: 5000,
        connectionName: `routebook-${part.replaceAll(' ', '-')}`,
        replyMapping: 'legacy' as const,
        // A server that answers this was the primary and is now a replica. The host name or the Sentinels lead to the new primary.
        reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    };
    const redis = isSentinelUrl(url) ? new Redis({ ...throughSentinels(url), ...options }) : new Redis(url, options);
    const status = watchConnection(log, part);
    redis.on('error', status.down);
    redis.on('reconnecting', () => status.down(new Error('the connection was closed')));
    redis.on('ready', status.up);
    if (profile === 'producer')
        for (const end of ['ready', 'close', 'error']) redis.once(end, () => (redis.options.enableOfflineQueue = false));
    if (profile !== 'reader') redis.on('connect', () => writeOncePerTurn(redis));
    return redis;
}

/** How long one Sentinel may take to answer, in milliseconds; then the next is asked. */
const SENTINEL_MS = 1000;

/** @throws where the URL is wrong, which the settings exclude */
function throughSentinels(url: string): RedisOptions {
    const found = parseSentinelUrl(url);
    if (found === undefined) throw new Error('not a URL of Sentinels');
    const { isEncrypted, ...place } = found;
    return {
        ...place,
        sentinelCommandTimeout: SENTINEL_MS,
        // Without a delay ioredis closes the connection permanently after asking all Sentinels.
        sentinelRetryStrategy: () => RETRY_MS,
        ...(isEncrypted ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    };
}

/** All keys of one installation share a hash tag, so that scripts over several of them also run on a cluster. */
export function hashTag(keyPrefix: string): string {
    return keyPrefix.startsWith('{') ? keyPrefix : `{${keyPrefix}}`;
}

/** Flush functions of connections that collect the commands of a turn. */
const senders = new WeakMap<Redis, () => void>();

/** Sends the collected commands now instead of at the end of the turn, for callers that batch by themselves. */
export function sendNow(redis: Redis): void {
    senders.get(redis)?.();
}

/**
 * Writes the commands of one turn of the event loop together. One system call for each command took a tenth of the API's CPU under load.
 * An idle loop turns immediately, so a single command does not wait.
 */
function writeOncePerTurn(redis: Redis): void {
    const stream: Writable = redis.stream;
    const write = stream.write.bind(stream) as Writable['write'];
    let isCorked = false;
    const send = () => {
        if (!isCorked) return;
        isCorked = false;
        stream.uncork();
    };
    senders.set(redis, send);
    const corkedWrite = (...args: Parameters<Writable['write']>) => {
        if (!isCorked) {
            isCorked = true;
            stream.cork();
            setImmediate(send);
        }
        return write(...args);
    };
    stream.write = corkedWrite as Writable['write'];
}
