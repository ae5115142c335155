import { setTimeout as sleep } from 'node:timers/promises';
import { type BackendFactory, type PgPool, PostgresConnection, PostgresQueueBackend } from 'bullmq';

/** Delay of the worker loop after an error, in milliseconds. */
const RETRY_MS = 100;

interface PostgresQueueConnection {
    pool: PgPool;
    /** Slots of the worker; absent for a producer. */
    concurrency?: number;
}

/** BullMQ's factory for `ObservedPostgresBackend`. The caller keeps ownership of the pool. */
export const createObservedPostgresBackend: BackendFactory<ObservedPostgresBackend, PostgresQueueConnection> = (
    name,
    options,
    { withBlockingConnection = false } = {},
) => {
    const { pool, concurrency = 0 } = options.connection;
    const bullOptions = { ...options, connection: pool };
    return new ObservedPostgresBackend(
        concurrency,
        new RetriedConnection(pool),
        name,
        bullOptions,
        true,
        withBlockingConnection ? name : undefined,
    );
};

/**
 * BullMQ caches a failed first check of its schema. Without this class, a worker that started while PostgreSQL was unreachable would never
 * take a job.
 */
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

/**
 * BullMQ's PostgreSQL backend, with two additions. It adds a single job cheaply. It records when the worker loop made progress, because
 * `isRunning()` is also true for a loop that hangs.
 */
class ObservedPostgresBackend extends PostgresQueueBackend {
    /**
     * When the loop last made progress, by `performance.now()`: it asked for work, or all slots were busy and the locks of their jobs were
     * renewed.
     */
    progressAt = performance.now();
    readonly #concurrency: number;

    constructor(concurrency: number, ...args: ConstructorParameters<typeof PostgresQueueBackend>) {
        super(...args);
        this.#concurrency = concurrency;
    }

    /**
     * Adds a single job without the bulk function. A bulk insert creates and drops two temporary tables, which costs more than all other
     * work of a single fetch (goal P3).
     */
    override async addJobs(entries: Parameters<PostgresQueueBackend['addJobs']>[0]): Promise<string[]> {
        const [first, ...more] = entries;
        if (first === undefined || more.length > 0) return super.addJobs(entries);
        return [await this.addJob(first.job, first.jobId, first.parentKeyOpts)];
    }

    override async moveToActive(
        ...args: Parameters<PostgresQueueBackend['moveToActive']>
    ): ReturnType<PostgresQueueBackend['moveToActive']> {
        try {
            const next = await super.moveToActive(...args);
            this.progressAt = performance.now();
            return next;
        } catch (error) {
            // BullMQ's loop retries without a delay after errors that it does not count as a lost connection, such as those of a starting
            // server.
            await sleep(RETRY_MS);
            throw error;
        }
    }

    override async waitForJob(seconds: number): ReturnType<PostgresQueueBackend['waitForJob']> {
        const marker = await super.waitForJob(seconds);
        this.progressAt = performance.now();
        return marker;
    }

    override async extendLocks(...args: Parameters<PostgresQueueBackend['extendLocks']>): Promise<string[]> {
        const failed = await super.extendLocks(...args);
        if (args[0].length >= this.#concurrency) this.progressAt = performance.now();
        return failed;
    }
}
