import type { Writable } from 'node:stream';
import { type CommonRedisOptions, Redis } from 'ioredis';
import { type OutageLog, watchOutage } from './outage.ts';

/**
 * A fixed short delay: with the default back-off the first job after a 30 s outage waited 7.8 s, with this one 7 ms. Also for one that still
 * reads its file, of which it says in whole seconds how long that takes.
 */
const RETRY_MS = 200;
/** A connection that is owed an answer and hears nothing for so long is cut and opened anew (GOALS R5: noticed within 3 s). */
const SILENCE_MS = 2500;

/**
 * `producer`: whoever serves a caller; a command waits for the first attempt to connect, so that a process that has just begun refuses
 * nobody, and fails at once without a connection from then on. Ask through a silence guard (silence.ts).
 * `worker`: commands wait for the connection however long it takes, and are sent again after a reconnect.
 * `reader`: for blocking reads; a read fails with its connection, so that the reader knows and goes on from where it was.
 */
export type RedisProfile = 'producer' | 'worker' | 'reader';

const PROFILES: Record<RedisProfile, CommonRedisOptions> = {
    producer: { enableOfflineQueue: true, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    worker: { enableOfflineQueue: true, maxRetriesPerRequest: null },
    reader: { enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
};

/** Opens a connection that reconnects for ever; close it with `disconnect()`. `part` is its name in the log and in CLIENT LIST. */
export function openRedis(url: string, profile: RedisProfile, part: string, log: OutageLog): Redis {
    const redis = new Redis(url, {
        ...PROFILES[profile],
        retryStrategy: () => RETRY_MS,
        maxLoadingRetryTime: RETRY_MS,
        connectTimeout: 2000,
        socketTimeout: SILENCE_MS,
        keepAlive: 5000,
        connectionName: `routebook-${part.replaceAll(' ', '-')}`,
        replyMapping: 'legacy',
    });
    const outage = watchOutage(log, part);
    redis.on('error', outage.down);
    redis.on('reconnecting', () => outage.down(new Error('the connection was closed')));
    redis.on('ready', outage.up);
    if (profile === 'producer') for (const end of ['ready', 'close']) redis.once(end, () => (redis.options.enableOfflineQueue = false));
    if (profile !== 'reader') redis.on('connect', () => writeOncePerTurn(redis));
    return redis;
}

/** All keys of one installation share a hash tag, so that scripts over several of them also run on a cluster. */
export function hashTag(keyPrefix: string): string {
    return keyPrefix.startsWith('{') ? keyPrefix : `{${keyPrefix}}`;
}

/** How to send at once what a connection has gathered in this turn. */
const senders = new WeakMap<Redis, () => void>();

/** For whoever has gathered a whole turn's commands himself: what was just asked does not wait for the end of the turn. */
export function sendNow(redis: Redis): void {
    senders.get(redis)?.();
}

/**
 * Commands of one turn of the event loop leave in one write: a system call each was a tenth of the API's CPU under load. An idle
 * loop turns at once, so that a lone command does not wait.
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
