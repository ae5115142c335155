import { type BackendFactory, isPgPool, PostgresConnection, PostgresQueueBackend } from 'bullmq';
import type pg from 'pg';
import { failureOf, retryRolledBack } from '../../platform/pg-errors.ts';
import { QUEUE_NAME, REPLY_BATCH } from './backend.ts';
import { ADD, GIVE_BACK, RENEW, STALLED, TURN } from './batched-statements.ts';
import { JOB_OPTIONS, WORKER_OPTIONS } from './bull-options.ts';
import { type Finished, type TakenJob, TakenJobs } from './taken-jobs.ts';

/** Maximum number of jobs that one statement takes. */
const MAX_TAKEN = 100;

interface BatchedPostgresConnection {
    pool: pg.Pool;
    /** Slots of the worker; absent for a producer. */
    concurrency?: number;
}

/** BullMQ's factory for `BatchedPostgresBackend`. The caller keeps ownership of the pool. */
export const createBatchedPostgresBackend: BackendFactory<BatchedPostgresBackend, BatchedPostgresConnection> = (name, options) => {
    const { pool, concurrency = 0 } = options.connection;
    // BullMQ has a type of its own for pools.
    if (!isPgPool(pool)) throw new TypeError('this is not a pg pool');
    return new BatchedPostgresBackend({ pool, concurrency }, new RetriedConnection(pool), name, { ...options, connection: pool }, true);
};

/** BullMQ caches a failed first check of its schema. A worker that started without PostgreSQL would never take a job. */
class RetriedConnection extends PostgresConnection {
    override async waitUntilReady(): Promise<void> {
        try {
            await super.waitUntilReady();
        } catch (error) {
            Reflect.deleteProperty(this, 'readyPromise');
            throw error;
        }
    }
}

/** BullMQ's PostgreSQL backend with batches: it adds, takes and finishes many jobs in one statement. */
export class BatchedPostgresBackend extends PostgresQueueBackend {
    readonly taken: TakenJobs;
    readonly #pool: pg.Pool;
    /** Signals so far, and how many of them came before a turn that found no more jobs. */
    #signals = 0;
    #answered = 0;
    #wake: () => void = () => {};

    constructor({ pool, concurrency }: Required<BatchedPostgresConnection>, ...args: ConstructorParameters<typeof PostgresQueueBackend>) {
        super(...args);
        this.#pool = pool;
        this.taken = new TakenJobs(
            { turn: (...turn) => this.#turn(...turn), giveBack: (...jobs) => this.#giveBack(...jobs) },
            // An outcome may have 10 MiB.
            { concurrency, maxFinished: REPLY_BATCH, maxTaken: MAX_TAKEN, maxInFlight: 2 },
        );
    }

    override async addJobs(entries: Parameters<PostgresQueueBackend['addJobs']>[0]): Promise<string[]> {
        const ids = entries.map(({ jobId }) => jobId);
        const data = entries.map(({ job }) => job.data);
        const priorities = entries.map(({ job }) => job.opts.priority ?? 0);
        // The producer gives all jobs of a call the same time.
        await this.#pool.query({ ...ADD, values: [QUEUE_NAME, ids, data, priorities, OPTIONS, entries[0]?.job.timestamp ?? 0] });
        return ids;
    }

    override async moveToActive(): ReturnType<PostgresQueueBackend['moveToActive']> {
        return this.taken.next();
    }

    override async moveToCompleted(...args: Parameters<PostgresQueueBackend['moveToCompleted']>) {
        const [{ id = '' }, , , , isNextWanted] = args;
        return this.taken.complete(id, isNextWanted);
    }

    override async moveToFailed(...[job, reason, remove, , , fields]: Parameters<PostgresQueueBackend['moveToFailed']>) {
        // BullMQ's function would take a next job, which this class would not know about.
        return this.taken.fail(job.id ?? '', () => super.moveToFailed(job, reason, remove, this.taken.token, false, fields));
    }

    override async extendLocks(ids: string[], _tokens: string[], durationMs: number): Promise<string[]> {
        const { rows } = await this.#pool.query<{ id: string }>({
            ...RENEW,
            values: [QUEUE_NAME, this.taken.token, ids, durationMs],
        });
        return this.taken.renewed(
            ids.length,
            rows.map(({ id }) => id),
        );
    }

    /** BullMQ's method uses the clock of this machine. If that clock is wrong, it treats jobs of live workers as stalled. */
    override async moveStalledJobsToWait(): Promise<string[]> {
        const { maxStalledCount, stalledInterval } = WORKER_OPTIONS;
        const { rows } = await this.#pool.query<{ id: string }>({
            ...STALLED,
            values: [QUEUE_NAME, maxStalledCount, stalledInterval],
        });
        return rows.map(({ id }) => id);
    }

    /**
     * Waits for a signal. BullMQ's own wait also queries for waiting and for delayed jobs: two of the ten statements of a lone fetch. No job
     * here is delayed, and a signal that came during the last turn is not lost.
     */
    override async waitForJob(seconds: number): ReturnType<PostgresQueueBackend['waitForJob']> {
        if (!this.taken.isReady() && this.#signals === this.#answered) {
            const { promise, resolve } = Promise.withResolvers<void>();
            const timer = setTimeout(resolve, 1000 * seconds);
            this.#wake = resolve;
            await promise;
            clearTimeout(timer);
        }
        this.taken.woke();
        return { member: '0', score: 0 };
    }

    override async disconnectBlocking(): Promise<void> {
        this.signal();
    }

    /** Call this when jobs were added, or may have been added while nobody listened. */
    signal(): void {
        this.#signals++;
        this.#wake();
    }

    async #turn(token: string, wanted: number, finished: readonly Finished[]): Promise<TakenJob[]> {
        const values = [
            ...[QUEUE_NAME, token, wanted, WORKER_OPTIONS.lockDuration],
            ...[finished.map(({ id }) => id), finished.map(({ channel }) => channel), finished.map(({ body }) => body)],
        ];
        const signals = this.#signals;
        try {
            // BullMQ's own statements lock the same rows in another order.
            const { rows } = await retryRolledBack(() => this.#pool.query<TakenJob | { id: null }>({ ...TURN, values }));
            const jobs = rows.filter((row): row is TakenJob => row.id !== null);
            if (jobs.length < wanted) this.#answered = Math.max(this.#answered, signals);
            return jobs;
        } catch (error) {
            // An answer with jobs may have been lost with the connection.
            if (failureOf(error) === 'unknown') void this.taken.giveBack();
            throw error;
        }
    }

    async #giveBack(token: string, kept: readonly string[]): Promise<void> {
        await this.#pool.query({ ...GIVE_BACK, values: [QUEUE_NAME, token, kept] });
    }
}

const OPTIONS = JSON.stringify(JOB_OPTIONS);
