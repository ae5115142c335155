import { createRedisBackend, withBackend } from 'bullmq';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';
import { hashTag, openRedis } from '../../platform/redis.ts';
import { createStallDetector } from '../../platform/stall-detector.ts';
import { type Envelope, JOB_STATES, type ProducerBackend, QUEUE_NAME, toQueuedJobs, type WorkerBackend } from './backend.ts';
import { createBatchedAdd } from './batched/adding.ts';
import { type BatchedJobs, createBatchedJobs } from './batched/jobs.ts';
import { JOB_OPTIONS, WORKER_OPTIONS, wrapWorker } from './bull-worker.ts';
import { openRedisReplies } from './redis-replies.ts';

const bull = withBackend(createRedisBackend);

interface RedisQueueOptions {
    redisUrl: string;
    keyPrefix: string;
    log: ConnectionLog;
}

/** Opens the producer's side on Redis: one connection for commands, one for replies. */
export function openRedisProducer({ redisUrl, keyPrefix, log }: RedisQueueOptions): ProducerBackend {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'producer', 'redis queue', log);
    const { guard } = createStallDetector('redis queue');
    const status = watchConnection(log, 'redis queue jobs');
    // Without the first two skips, every add waits for a Redis that is not up yet, instead of failing.
    const queue = new bull.Queue<Envelope>(QUEUE_NAME, {
        connection: redis,
        prefix,
        skipVersionCheck: true,
        skipWaitingForReady: true,
        skipMetasUpdate: true,
    });
    queue.on('error', status.down);
    redis.on('ready', status.up);
    const addPlain = createBatchedAdd(redis, (type) => queue.toKey(type), guard);
    return {
        async add(id, envelope, priority) {
            if (priority === undefined) await addPlain({ id, envelope });
            else await guard(queue.add('fetch', envelope, { ...JOB_OPTIONS, jobId: id, priority }));
        },
        async cancel(id) {
            await guard(queue.remove(id, { removeChildren: false }));
            await guard(redis.publish(cancelChannel(prefix), id));
        },
        async surviving(ids) {
            const exist = await guard(Promise.all(ids.map((id) => redis.exists(queue.toKey(id)))));
            return new Set(ids.filter((_, index) => exist[index] === 1));
        },
        async counts() {
            const counts = await guard(queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed'));
            return { waiting: sum(counts, 'waiting', 'prioritized'), active: sum(counts, 'active'), delayed: sum(counts, 'delayed') };
        },
        async peek(most) {
            const found = await guard(
                Promise.all(JOB_STATES.map(async (state) => toQueuedJobs(state, await queue.getJobs([state], 0, most - 1, true)))),
            );
            return found.flat();
        },
        async oldestWaitingSince() {
            const [oldest] = await guard(queue.getJobs(['waiting'], 0, 0, true));
            return oldest?.timestamp;
        },
        async ping() {
            await guard(redis.ping());
        },
        openReplies: (listener) => openRedisReplies({ redisUrl, prefix, log, listener, forget: (key) => redis.unlink(key) }),
        async close() {
            await queue.close();
            redis.disconnect();
        },
    };
}

/** Opens the worker's side on Redis: one connection for commands, one that BullMQ blocks on, one for cancellations. */
export function openRedisWorker({ redisUrl, keyPrefix, log }: RedisQueueOptions): WorkerBackend {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'worker', 'redis worker', log);
    const subscriber = openRedis(redisUrl, 'worker', 'redis cancellations', log);
    const status = watchConnection(log, 'redis worker jobs');
    redis.on('ready', status.up);
    // A subscriber awaits no reply, so its stall would go unnoticed without a ping.
    const pulse = setInterval(() => void subscriber.ping().catch(() => undefined), 1000).unref();
    let jobs: BatchedJobs | undefined;
    return {
        async reply(replyTo, { id, body }) {
            await jobs?.finish(id, replyTo, body);
        },
        onCancel(listener) {
            subscriber.on('message', (_channel: string, id: string) => listener(id));
            subscriber.subscribe(cancelChannel(prefix)).catch(status.down);
        },
        openWorker(process, { concurrency }) {
            const worker = new bull.Worker<Envelope, void>(QUEUE_NAME, (job) => process(job.id ?? '', job.data), {
                ...WORKER_OPTIONS,
                connection: redis,
                prefix,
                concurrency,
            });
            const taking = createBatchedJobs(redis, worker.getBackend(), concurrency);
            jobs = taking;
            const wrapped = wrapWorker(worker, concurrency, status.down);
            return {
                ...wrapped,
                async pause() {
                    taking.stopTaking();
                    await wrapped.pause();
                    await taking.giveBack();
                },
            };
        },
        async close() {
            clearInterval(pulse);
            subscriber.disconnect();
            redis.disconnect();
        },
    };
}

function cancelChannel(prefix: string): string {
    return `${prefix}:cancel`;
}

function sum(counts: Record<string, number>, ...states: string[]): number {
    return states.reduce((total, state) => total + (counts[state] ?? 0), 0);
}
