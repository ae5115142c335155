import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BackendFactory, type JobJson, type KeyPrefixOptions, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis, Result } from 'ioredis';
import { openBatch } from '../../platform/batch.ts';
import { sendNow } from '../../platform/redis.ts';
import { REPLY_TTL_S, type Reply } from './backend.ts';
import { ADD_SCRIPT, GIVE_BACK_SCRIPT, SCRIPT_BATCH, TURN_SCRIPT } from './batched-scripts.ts';
import { JOB_OPTIONS, WORKER_OPTIONS } from './bull-options.ts';

type Arguments = (string | number)[];
type TakenJob = [id: string, data: string, timestamp: string, priority: string, deferredFailure: string | null];

declare module 'ioredis' {
    interface RedisCommander<Context> {
        jobsAdd(...args: Arguments): Result<number, Context>;
        jobsTurn(...args: Arguments): Result<TakenJob[], Context>;
        jobsGiveBack(...args: Arguments): Result<number, Context>;
    }
}

/** Delay of the worker loop while its blocking connection is lost, or after an error, in milliseconds. */
const RETRY_MS = 100;

interface BatchedRedisConnection {
    redis: Redis;
    /** Workers only: the connection that blocks while the queue is empty, and the number of slots. */
    worker?: { blocking: Redis; concurrency: number };
}

/** A finished job. `channel`: the reply channel of its caller; '' if no caller waits. */
interface Finished extends Reply {
    channel: string;
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

/**
 * BullMQ's Redis backend with batches: it adds, takes and finishes many plain jobs in one script call (decision 8). BullMQ's worker asks
 * for one job at a time. The other jobs of a script call stay here until the worker's next request, which follows in the same turn of the
 * event loop.
 */
export class BatchedRedisBackend extends RedisQueueBackend {
    /** When the worker loop last made progress, by `performance.now()`. */
    progressAt = performance.now();
    readonly #redis: Redis;
    readonly #blocking: Redis | undefined;
    readonly #concurrency: number;
    /** The lock token for all jobs of this worker. */
    readonly #token = randomUUID();
    /** Jobs that this worker locked and has not started. */
    readonly #ready: TakenJob[] = [];
    /** Ids of all jobs that this worker locked and has not finished. */
    readonly #held = new Set<string>();
    /** Script calls that have not been answered yet. */
    readonly #turns = new Set<Promise<unknown>>();
    /** Whether the last call returned fewer jobs than requested and no new job has been signalled since. */
    #isQueueEmpty = false;
    #isStopped = false;
    /** Pending while jobs are returned to the queue. No jobs are taken during this time. */
    #givingBack: Promise<void> | undefined;
    #isGiveBackDue = false;

    constructor(...args: [...ConstructorParameters<typeof RedisQueueBackend>]) {
        super(...args);
        const { redis, worker } = args[4].connection as unknown as BatchedRedisConnection;
        this.#redis = redis;
        this.#blocking = worker?.blocking;
        this.#concurrency = worker?.concurrency ?? 0;
        redis.defineCommand('jobsAdd', { numberOfKeys: 3, lua: ADD_SCRIPT });
        redis.defineCommand('jobsTurn', { numberOfKeys: 6, lua: TURN_SCRIPT });
        redis.defineCommand('jobsGiveBack', { numberOfKeys: 3, lua: GIVE_BACK_SCRIPT });
        // An answer with jobs may have been lost with the connection.
        if (worker !== undefined) redis.on('close', () => void this.#giveBack());
    }

    override async addJobs(entries: Parameters<RedisQueueBackend['addJobs']>[0]): Promise<string[]> {
        if (!entries.every(({ job }) => isPlain(job))) return super.addJobs(entries);
        const { wait, marker, meta } = this.#keys;
        const jobs = entries.flatMap(({ jobId, job }) => [jobId, job.data]);
        const added = this.#redis.jobsAdd(wait, marker, meta, this.toKey(''), OPTIONS, Date.now(), ...jobs);
        sendNow(this.#redis);
        await added;
        return entries.map(({ jobId }) => jobId);
    }

    /** Stores the reply of a job. If this worker holds the job, also removes it and takes another job for its slot. */
    readonly finish = openBatch<Finished, unknown>({
        run: async (jobs) => {
            const held = jobs.filter(({ id }) => this.#held.has(id));
            await this.#turn(this.#mayTake ? held.length : 0, jobs);
            for (const { id } of held) this.#held.delete(id);
            return jobs;
        },
        maxInFlight: Number.POSITIVE_INFINITY,
        maxSize: SCRIPT_BATCH,
    }).add;

    /** Stops taking jobs and returns the jobs that have not started. */
    stopTaking(): void {
        this.#isStopped = true;
        void this.#giveBack();
    }

    /** Resolves when no job is being returned to the queue. */
    async givenBack(): Promise<void> {
        await this.#givingBack;
    }

    override async moveToActive(): ReturnType<RedisQueueBackend['moveToActive']> {
        try {
            await this.#givingBack;
            if (this.#ready.length === 0 && !this.#isQueueEmpty && this.#mayTake) {
                const wanted = Math.max(1, Math.min(SCRIPT_BATCH, this.#concurrency - this.#held.size));
                this.#isQueueEmpty = (await this.#turn(wanted)) < wanted;
            } else this.#isQueueEmpty = false;
        } catch (error) {
            // BullMQ's loop retries without a delay after errors that it does not count as a lost connection, such as those of a starting
            // server.
            await sleep(RETRY_MS);
            throw error;
        }
        this.progressAt = performance.now();
        return toBullResult(this.#ready.shift());
    }

    /** If the consumer sent a reply, the job has already been removed. */
    override async moveToCompleted(...args: Parameters<RedisQueueBackend['moveToCompleted']>) {
        const [{ id = '' }, , , , isNextWanted] = args;
        if (this.#held.has(id)) await this.finish({ id, channel: '', body: '' });
        return { result: isNextWanted ? toBullResult(this.#ready.shift()) : undefined, finishedOn: Date.now() };
    }

    override async moveToFailed(...[job, reason, remove, , , fields]: Parameters<RedisQueueBackend['moveToFailed']>) {
        try {
            // BullMQ's script would take a next job, which this class would not know about.
            return await super.moveToFailed(job, reason, remove, this.#token, false, fields);
        } finally {
            this.#held.delete(job.id ?? '');
        }
    }

    override async extendLocks(ids: string[], _tokens: string[], durationMs: number): Promise<string[]> {
        const tokens = ids.map(() => this.#token);
        const failed = await super.extendLocks(ids, tokens, durationMs);
        if (ids.length >= this.#concurrency) this.progressAt = performance.now();
        return failed;
    }

    override async waitForJob(seconds: number): ReturnType<RedisQueueBackend['waitForJob']> {
        if (this.#ready.length > 0) return { member: '0', score: 0 };
        try {
            const marker = await this.#blocking?.bzpopmin(this.#keys.marker, seconds);
            return marker ? { member: marker[1], score: Number(marker[2]) } : null;
        } catch {
            // Without this connection, the loop asks for jobs at intervals.
            if (!this.#isStopped) await sleep(RETRY_MS);
            return null;
        } finally {
            this.#isQueueEmpty = false;
            this.progressAt = performance.now();
        }
    }

    override async disconnectBlocking(): Promise<void> {
        this.#blocking?.disconnect();
    }

    get #keys(): Record<KeyName, string> {
        return this.keys as Record<KeyName, string>;
    }

    get #mayTake(): boolean {
        return !this.#isStopped && this.#givingBack === undefined;
    }

    /** @returns the number of jobs taken, which are now in `#ready` */
    async #turn(wanted: number, finished: readonly Finished[] = []): Promise<number> {
        const { wait, active, prioritized, marker, meta, stalled } = this.#keys;
        const answer = this.#redis.jobsTurn(
            ...[
                wait,
                active,
                prioritized,
                marker,
                meta,
                stalled,
                this.toKey(''),
                this.#token,
                WORKER_OPTIONS.lockDuration,
                wanted,
                REPLY_TTL_S,
            ],
            ...finished.flatMap(({ id, channel, body }) => [id, channel, body]),
        );
        sendNow(this.#redis);
        const turn = answer.then((jobs) => {
            for (const job of jobs) this.#held.add(job[0]);
            this.#ready.push(...jobs);
            return jobs.length;
        });
        this.#turns.add(turn);
        return turn.finally(() => this.#turns.delete(turn));
    }

    /** Returns jobs that have not started, and jobs whose answer was lost with a connection, to the queue. */
    #giveBack(): Promise<void> {
        this.#isGiveBackDue = true;
        this.#givingBack ??= this.#giveBackNow().finally(() => {
            this.#givingBack = undefined;
            this.#isQueueEmpty = false;
        });
        return this.#givingBack;
    }

    async #giveBackNow(): Promise<void> {
        // During an outage every failed reconnect requests a run. All requests that arrive during one run cause one more run.
        while (this.#isGiveBackDue) {
            this.#isGiveBackDue = false;
            // The jobs in pending answers would be missing from the list of jobs to keep.
            await Promise.allSettled(this.#turns);
            for (const [id] of this.#ready.splice(0)) this.#held.delete(id);
            const { wait, active, marker } = this.#keys;
            await this.#redis.jobsGiveBack(wait, active, marker, this.toKey(''), this.#token, ...this.#held).catch(() => undefined);
        }
    }
}

type KeyName = 'wait' | 'active' | 'prioritized' | 'marker' | 'meta' | 'stalled';

const OPTIONS = JSON.stringify(JOB_OPTIONS);

function isPlain({ opts: { priority = 0, delay = 0 } }: JobJson): boolean {
    return priority === 0 && delay === 0;
}

/** The result of BullMQ's `moveToActive`; empty when there is no job. */
function toBullResult(job: TakenJob | undefined): [job: JobJson, id: string, limitMs: number, delayUntil: number] | [] {
    if (job === undefined) return [];
    const [id, data, timestamp, priority, deferredFailure] = job;
    const json: JobJson = {
        id,
        name: 'fetch',
        data,
        opts: JOB_OPTIONS,
        progress: 0,
        attemptsMade: 0,
        attemptsStarted: 1,
        timestamp: Number(timestamp),
        processedOn: Date.now(),
        priority: Number(priority),
        delay: 0,
        failedReason: '',
        stacktrace: '[]',
        returnvalue: 'null',
        stalledCounter: 0,
        ...(deferredFailure === null ? {} : { deferredFailure }),
    };
    return [json, id, 0, 0];
}
