import { type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis';
import { type ConnectionLog, watchConnection } from './connection-log.ts';
import { isSentinelUrl, parseSentinelUrl } from './sentinel-url.ts';

/**
 * A short, fixed delay between reconnects, in milliseconds, also while Redis loads its file. With the default back-off, the first job after
 * a 30 s outage waited 7.8 s; with this delay it waits 7 ms.
 */
const RETRY_MS = 200;
/** A connection that waits for a reply and receives nothing for this long, is reopened (goal R5: detection within 3 s). */
const STALL_MS = 2500;

/**
 * `producer`: serves callers. Commands wait for the first connection attempt, so that a new process refuses no calls. Later, they fail
 * immediately without a connection. Guard commands with a stall detector (stall-detector.ts). `worker`: commands wait for the connection
 * without a timeout, and are sent again after a reconnect. `reader`: blocking reads. A read fails with its connection, so that the reader
 * can continue from its last position.
 */
type RedisProfile = 'producer' | 'worker' | 'reader';

const PROFILES: Record<RedisProfile, CommonRedisOptions> = {
    producer: { enableOfflineQueue: true, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    worker: { enableOfflineQueue: true, maxRetriesPerRequest: null },
    reader: { enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
};

/**
 * Opens a connection that always reconnects. Close it with `disconnect()`. `part` is its name in the log and in CLIENT LIST. With a URL of
 * Sentinels, each attempt asks them for the primary again, so that the connection follows a failover.
 */
export function openRedis(url: string, profile: RedisProfile, part: string, log: ConnectionLog): Redis {
    const options = {
        ...PROFILES[profile],
        retryStrategy: () => RETRY_MS,
        maxLoadingRetryTime: RETRY_MS,
        connectTimeout: 2000,
        socketTimeout: STALL_MS,
        keepAlive: 5000,
        connectionName: `routebook-${part.replaceAll(' ', '-')}`,
        replyMapping: 'legacy' as const,
        // A server that answers READONLY was the primary and is now a replica. The host name or the Sentinels lead to the new primary.
        reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    };
    const redis = isSentinelUrl(url) ? new Redis({ ...throughSentinels(url), ...options }) : new Redis(url, options);
    const status = watchConnection(log, part);
    redis.on('error', status.down);
    redis.on('reconnecting', () => status.down(new Error('the connection was closed')));
    redis.on('ready', status.up);
    if (profile === 'producer')
        for (const end of ['ready', 'close', 'error']) redis.once(end, () => (redis.options.enableOfflineQueue = false));
    return redis;
}

/** Timeout for the answer of one Sentinel. After it, the next Sentinel is asked. */
const SENTINEL_MS = 1000;

/** @throws if the URL is invalid, which the validation of settings excludes */
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
