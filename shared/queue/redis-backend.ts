import { createRedisBackend, withBackend } from 'bullmq';
import { type OutageLog, watchOutage } from '../outage.ts';
import { hashTag, openRedis } from '../redis.ts';
import { createSilenceGuard } from '../silence.ts';
import { type Envelope, JOB_STATES, type ProducerBackend, QUEUE_NAME, toQueuedJobs, type WorkerBackend } from './backend.ts';
import { JOB_OPTIONS, WORKER_OPTIONS, wrapWorker } from './bull-worker.ts';
import { openLeanAdding } from './lean/adding.ts';
import { type LeanJobs, openLeanJobs } from './lean/jobs.ts';
import { openRedisReplies } from './redis-replies.ts';

const bull = withBackend(createRedisBackend);

interface RedisQueueOptions {
    redisUrl: string;
    keyPrefix: string;
    log: OutageLog;
}

/** The waiting side on Redis: one connection for commands, one for replies. */
export function openRedisProducer({ redisUrl, keyPrefix, log }: RedisQueueOptions): ProducerBackend {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'producer', 'redis queue', log);
    const { ask } = createSilenceGuard('redis queue');
    const bullOutage = watchOutage(log, 'redis queue jobs');
    // Without the two skips a queue that starts before its Redis waits for it inside every add, instead of failing.
    const queue = new bull.Queue<Envelope>(QUEUE_NAME, {
        connection: redis,
        prefix,
        skipVersionCheck: true,
        skipWaitingForReady: true,
        skipMetasUpdate: true,
    });
    queue.on('error', bullOutage.down);
    redis.on('ready', bullOutage.up);
    const addPlain = openLeanAdding(redis, (type) => queue.toKey(type), ask);
    return {
        async add(id, envelope, priority) {
            if (priority === undefined) await addPlain({ id, envelope });
            else await ask(queue.add('fetch', envelope, { ...JOB_OPTIONS, jobId: id, priority }));
        },
        async cancel(id) {
            await ask(queue.remove(id, { removeChildren: false }));
            await ask(redis.publish(cancelChannel(prefix), id));
        },
        async surviving(ids) {
            const exist = await ask(Promise.all(ids.map((id) => redis.exists(queue.toKey(id)))));
            return new Set(ids.filter((_, index) => exist[index] === 1));
        },
        async counts() {
            const counts = await ask(queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed'));
            return { waiting: sum(counts, 'waiting', 'prioritized'), active: sum(counts, 'active'), delayed: sum(counts, 'delayed') };
        },
        async peek(most) {
            const found = await ask(
                Promise.all(JOB_STATES.map(async (state) => toQueuedJobs(state, await queue.getJobs([state], 0, most - 1, true)))),
            );
            return found.flat();
        },
        async oldestWaitingSince() {
            const [oldest] = await ask(queue.getJobs(['waiting'], 0, 0, true));
            return oldest?.timestamp;
        },
        async ping() {
            await ask(redis.ping());
        },
        openReplies: (listener) => openRedisReplies({ redisUrl, prefix, log, listener, forget: (key) => redis.unlink(key) }),
        async close() {
            await queue.close();
            redis.disconnect();
        },
    };
}

/** The working side on Redis: one connection for commands, one that BullMQ blocks on, one that hears cancellations. */
export function openRedisWorker({ redisUrl, keyPrefix, log }: RedisQueueOptions): WorkerBackend {
    const prefix = hashTag(keyPrefix);
    const redis = openRedis(redisUrl, 'worker', 'redis worker', log);
    const subscriber = openRedis(redisUrl, 'worker', 'redis cancellations', log);
    const outage = watchOutage(log, 'redis worker jobs');
    redis.on('ready', outage.up);
    // A subscriber is owed no answer, so nothing would notice its silence: it asks for one.
    const pulse = setInterval(() => void subscriber.ping().catch(() => undefined), 1000).unref();
    let jobs: LeanJobs | undefined;
    return {
        async reply(replyTo, { id, body }) {
            await jobs?.finish(id, replyTo, body);
        },
        onCancel(listener) {
            subscriber.on('message', (_channel: string, id: string) => listener(id));
            subscriber.subscribe(cancelChannel(prefix)).catch(outage.down);
        },
        openWorker(process, { concurrency }) {
            const worker = new bull.Worker<Envelope, void>(QUEUE_NAME, (job) => process(job.id ?? '', job.data), {
                ...WORKER_OPTIONS,
                connection: redis,
                prefix,
                concurrency,
            });
            const taking = openLeanJobs(redis, worker.getBackend(), concurrency);
            jobs = taking;
            const wrapped = wrapWorker(worker, concurrency, outage.down);
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
