import { setTimeout as sleep } from 'node:timers/promises';
import { type BackendFactory, type JobJson, type KeyPrefixOptions, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis, Result } from 'ioredis';
import { REPLY_TTL_S } from './backend.ts';
import { ADD_SCRIPT, GIVE_BACK_SCRIPT, SCRIPT_BATCH, TURN_SCRIPT } from './batched-scripts.ts';
import { JOB_OPTIONS, RETRY_MS, WORKER_OPTIONS } from './bull-options.ts';
import { type Finished, type TakenJob, TakenJobs } from './taken-jobs.ts';

type Arguments = (string | number)[];
type TakenRow = [id: string, data: string, timestamp: string, priority: string, deferredFailure: string | null];

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsAdd(...args: Arguments): Result<number, Context>;
        jobsTurn(...args: Arguments): Result<TakenRow[], Context>;
        jobsGiveBack(...args: Arguments): Result<number, Context>;
    }
}

interface BatchedRedisConnection {
    redis: Redis;
    /** Workers only: the connection that blocks while the queue is empty, and the number of slots. */
    worker?: { blocking: Redis; concurrency: number };
}

/** BullMQ's factory for `BatchedRedisBackend`. The caller keeps ownership of the connections. */
export const createBatchedRedisBackend: BackendFactory<BatchedRedisBackend, BatchedRedisConnection> = (name, options) => {
    const keys = new QueueKeys((options as KeyPrefixOptions).prefix);
    return new BatchedRedisBackend(
        // Without the skip options, a producer would wait for an unreachable Redis instead of failing.
        new RedisConnection(options.connection.redis, {
            shared: true,
            blocking: false,
            skipVersionCheck: options.skipVersionCheck === true,
            skipWaitingForReady: options.skipWaitingForReady === true,
        }),
        name,
        keys.getKeys(name),
        (type) => keys.toKey(name, type),
        options,
    );
};

/** BullMQ's Redis backend with batches: it adds, takes and finishes many plain jobs in one script call. */
export class BatchedRedisBackend extends RedisQueueBackend {
    readonly taken: TakenJobs;
    readonly #redis: Redis;
    readonly #blocking: Redis | undefined;

    constructor(...args: [...ConstructorParameters<typeof RedisQueueBackend>]) {
        super(...args);
        const { redis, worker } = args[4].connection as unknown as BatchedRedisConnection;
        this.#redis = redis;
        this.#blocking = worker?.blocking;
        redis.defineCommand('jobsAdd', { numberOfKeys: 3, lua: ADD_SCRIPT });
        redis.defineCommand('jobsTurn', { numberOfKeys: 6, lua: TURN_SCRIPT });
        redis.defineCommand('jobsGiveBack', { numberOfKeys: 3, lua: GIVE_BACK_SCRIPT });
        this.taken = new TakenJobs(
            { turn: (...turn) => this.#turn(...turn), giveBack: (...jobs) => this.#giveBack(...jobs) },
            {
                concurrency: worker?.concurrency ?? 0,
                maxFinished: SCRIPT_BATCH,
                maxTaken: SCRIPT_BATCH,
                maxInFlight: Number.POSITIVE_INFINITY,
            },
        );
        // An answer with jobs may have been lost with the connection.
        if (worker !== undefined) redis.on('close', () => void this.taken.giveBack());
    }

    override async addJobs(entries: Parameters<RedisQueueBackend['addJobs']>[0]): Promise<string[]> {
        if (!entries.every(({ job }) => isPlain(job))) return super.addJobs(entries);
        const { wait, marker, meta } = this.#keys;
        const jobs = entries.flatMap(({ jobId, job }) => [jobId, job.data]);
        // The producer gives all jobs of a call the same time.
        const timestamp = entries[0]?.job.timestamp ?? 0;
        await this.#redis.jobsAdd(wait, marker, meta, this.toKey(''), OPTIONS, timestamp, ...jobs);
        return entries.map(({ jobId }) => jobId);
    }

    override async moveToActive(): ReturnType<RedisQueueBackend['moveToActive']> {
        return this.taken.next();
    }

    override async moveToCompleted(...args: Parameters<RedisQueueBackend['moveToCompleted']>) {
        const [{ id = '' }, , , , isNextWanted] = args;
        return this.taken.complete(id, isNextWanted);
    }

    override async moveToFailed(...[job, reason, remove, , , fields]: Parameters<RedisQueueBackend['moveToFailed']>) {
        // BullMQ's script would take a next job, which this class would not know about.
        return this.taken.fail(job.id ?? '', () => super.moveToFailed(job, reason, remove, this.taken.token, false, fields));
    }

    override async extendLocks(ids: string[], _tokens: string[], durationMs: number): Promise<string[]> {
        const tokens = ids.map(() => this.taken.token);
        return this.taken.renewed(ids.length, await super.extendLocks(ids, tokens, durationMs));
    }

    override async waitForJob(seconds: number): ReturnType<RedisQueueBackend['waitForJob']> {
        if (this.taken.isReady()) return { member: '0', score: 0 };
        try {
            const marker = await this.#blocking?.bzpopmin(this.#keys.marker, seconds);
            return marker ? { member: marker[1], score: Number(marker[2]) } : null;
        } catch {
            // Without this connection, the loop asks for jobs at intervals.
            if (!this.taken.isStopped()) await sleep(RETRY_MS);
            return null;
        } finally {
            this.taken.woke();
        }
    }

    override async disconnectBlocking(): Promise<void> {
        this.#blocking?.disconnect();
    }

    get #keys(): Record<KeyName, string> {
        return this.keys as Record<KeyName, string>;
    }

    async #turn(token: string, wanted: number, finished: readonly Finished[]): Promise<TakenJob[]> {
        const { wait, active, prioritized, marker, meta, stalled } = this.#keys;
        const answer = this.#redis.jobsTurn(
            ...[wait, active, prioritized, marker, meta, stalled, this.toKey(''), token, WORKER_OPTIONS.lockDuration, wanted, REPLY_TTL_S],
            ...finished.flatMap(({ id, channel, body }) => [id, channel, body]),
        );
        return (await answer).map(toTakenJob);
    }

    #giveBack(token: string, kept: readonly string[]): Promise<number> {
        const { wait, active, marker } = this.#keys;
        return this.#redis.jobsGiveBack(wait, active, marker, this.toKey(''), token, ...kept);
    }
}

type KeyName = 'wait' | 'active' | 'prioritized' | 'marker' | 'meta' | 'stalled';

const OPTIONS = JSON.stringify(JOB_OPTIONS);

function isPlain({ opts: { priority = 0, delay = 0 } }: JobJson): boolean {
    return priority === 0 && delay === 0;
}

function toTakenJob([id, data, timestamp, priority, deferredFailure]: TakenRow): TakenJob {
    return { id, data, timestamp: Number(timestamp), priority: Number(priority), deferredFailure };
}
