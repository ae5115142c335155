import { withBackend } from 'bullmq';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';
import { hashTag, openRedis } from '../../platform/redis.ts';
import { createStallDetector } from '../../platform/stall-detector.ts';
import { type Envelope, type ProducerBackend, QUEUE_NAME, type WorkerBackend } from './backend.ts';
import { type BatchedRedisBackend, createBatchedRedisBackend } from './batched-redis-backend.ts';
import { SCRIPT_BATCH } from './batched-scripts.ts';
import { WORKER_OPTIONS } from './bull-options.ts';
import { wrapWorker } from './bull-worker.ts';
import { createProducer } from './producer.ts';
import { openRedisReplies } from './redis-replies.ts';

const bull = withBackend(createBatchedRedisBackend);

interface RedisQueueOptions {
    redisUrl: string;
    keyPrefix: string;
    log: ConnectionLog;
    /** The store's clock. */
    now: () => number;
}

/** Opens the producer's side on Redis: one connection for commands, one for replies. */
export function openRedisProducer({ redisUrl, keyPrefix, log, now }: RedisQueueOptions): ProducerBackend {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'producer', 'redis queue', log);
    const { guard } = createStallDetector('redis queue');
    const status = watchConnection(log, 'redis queue jobs');
    // Without the first two skip options, BullMQ's own calls would wait for an unreachable Redis instead of failing.
    const queue = new bull.Queue<Envelope>(QUEUE_NAME, {
        connection: { redis },
        prefix,
        skipVersionCheck: true,
        skipWaitingForReady: true,
        skipMetasUpdate: true,
    });
    queue.on('error', status.down);
    redis.on('ready', status.up);
    const { remove, ...calls } = createProducer((question) => guard(question(queue)), {
        maxInFlight: Number.POSITIVE_INFINITY,
        maxSize: SCRIPT_BATCH,
        now,
    });
    return {
        ...calls,
        async cancel(id) {
            await remove(id);
            await guard(redis.publish(cancelChannel(prefix), id));
        },
        async surviving(ids) {
            const exist = await guard(Promise.all(ids.map((id) => redis.exists(queue.toKey(id)))));
            return new Set(ids.filter((_, index) => exist[index] === 1));
        },
        async time() {
            const [seconds, micros] = await guard(redis.time());
            return Number(seconds) * 1000 + Number(micros) / 1000;
        },
        openReplies: (listener) => openRedisReplies({ redisUrl, prefix, log, listener, forget: (key) => redis.unlink(key) }),
        async close() {
            await queue.close();
            redis.disconnect();
        },
    };
}

/** Opens the worker's side on Redis: one connection for commands, one that blocks while the queue is empty, one for cancellations. */
export function openRedisWorker({ redisUrl, keyPrefix, log }: Omit<RedisQueueOptions, 'now'>): WorkerBackend {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'worker', 'redis worker', log);
    const blocking = openRedis(redisUrl, 'reader', 'redis worker waiting', log);
    const subscriber = openRedis(redisUrl, 'worker', 'redis cancellations', log);
    const status = watchConnection(log, 'redis worker jobs');
    redis.on('ready', status.up);
    // A subscriber waits for no reply, so without a ping a stalled connection would stay undetected.
    const pulse = setInterval(() => void subscriber.ping().catch(() => undefined), 1000).unref();
    let backend: BatchedRedisBackend | undefined;
    return {
        async reply(replyTo, { id, body }) {
            await backend?.taken.finish({ id, channel: replyTo, body });
        },
        onCancel(listener) {
            subscriber.on('message', (_channel: string, id: string) => listener(id));
            subscriber.subscribe(cancelChannel(prefix)).catch(status.down);
        },
        openWorker(process, { concurrency }) {
            const worker = new bull.Worker<Envelope, void>(QUEUE_NAME, (job) => process(job.id ?? '', job.data), {
                ...WORKER_OPTIONS,
                connection: { redis, worker: { blocking, concurrency } },
                prefix,
                concurrency,
            });
            backend = worker.getBackend();
            return wrapWorker(worker, status.down);
        },
        async close() {
            clearInterval(pulse);
            for (const connection of [subscriber, blocking, redis]) connection.disconnect();
        },
    };
}

function cancelChannel(prefix: string): string {
    return `${prefix}:cancel`;
}
