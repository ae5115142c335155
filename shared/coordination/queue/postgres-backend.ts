import { runMigrations, withBackend } from 'bullmq';
import pg from 'pg';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';
import { openPool } from '../../platform/postgres-pool.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { type Envelope, type ProducerBackend, QUEUE_NAME, type WorkerBackend } from './backend.ts';
import { type BatchedPostgresBackend, createBatchedPostgresBackend } from './batched-postgres-backend.ts';
import { WORKER_OPTIONS } from './bull-options.ts';
import { wrapWorker } from './bull-worker.ts';
import { openListener } from './postgres-listener.ts';
import { openPostgresReplies, sealReply } from './postgres-replies.ts';
import { createProducer } from './producer.ts';

const bull = withBackend(createBatchedPostgresBackend);
const CANCEL_CHANNEL = 'fetch_cancel';
/** The channel on which BullMQ's functions announce jobs. */
const JOBS_CHANNEL = 'bullmq_jobs';

/**
 * Commits of the queue do not wait for the disk. A job lives only as long as its caller waits, and credits are stored elsewhere. A crash
 * may restore a job that has started. Writes stay safe: the sent mark of a write is a durable commit after the start, so the start is on
 * disk before the request is sent.
 */
const SETTINGS = '-c synchronous_commit=off';
/** BullMQ's schema comes first, then that of our own tables, which the role or the database may set. */
const FIRST = `select set_config('search_path', 'bullmq, ' || current_setting('search_path'), false)`;
/**
 * Timeouts of a worker's statements: of the answer, and in the server. The server's is shorter, so that nothing commits after the worker
 * gave up.
 */
const WORKER_MS = { answer: 5000, statement: 4000 };

interface PostgresQueueOptions {
    databaseUrl: string;
    secrets: Secrets;
    log: ConnectionLog;
    /** The store's clock. */
    now: () => number;
}

/** Migrates BullMQ's schema to the current version. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'routebook-migrate' });
    await client.connect();
    try {
        await runMigrations(client, 'bullmq');
    } finally {
        await client.end();
    }
}

/** Opens the producer's side in PostgreSQL: a pool, and one connection that listens for replies. */
export function openPostgresProducer({ databaseUrl, secrets, log, now }: PostgresQueueOptions): ProducerBackend {
    const pool = openPool({ url: databaseUrl, part: 'postgres queue', log, max: 8, timeoutMs: 1000, settings: SETTINGS, first: FIRST });
    const status = watchConnection(log, 'postgres queue jobs');
    let queue: Promise<ReturnType<typeof openQueue>> | undefined;
    const { remove, ...calls } = createProducer(async (question) => question(await ready()), { maxSize: 100, now });
    return {
        ...calls,
        async cancel(id) {
            await remove(id);
            await pool.query('select pg_notify($1, $2)', [CANCEL_CHANNEL, id]);
        },
        async surviving(ids) {
            const { rows } = await pool.query<{ id: string }>('select id from job where queue = $1 and id = any($2)', [QUEUE_NAME, ids]);
            return new Set(rows.map(({ id }) => id));
        },
        async time() {
            const { rows } = await pool.query<{ ms: number }>('select (extract(epoch from fleet_now()) * 1000)::float8 as ms');
            return rows[0]?.ms ?? Date.now();
        },
        openReplies: (listener) => openPostgresReplies({ databaseUrl, pool, secrets, log, listener }),
        async close() {
            await (await queue?.catch(() => undefined))?.close();
            await pool.end();
        },
    };

    /** BullMQ caches a failed first check of its schema, so a queue with a failed check is replaced. */
    function ready(): Promise<ReturnType<typeof openQueue>> {
        queue ??= openReady().catch((error: unknown) => {
            queue = undefined;
            throw error;
        });
        return queue;
    }

    async function openReady() {
        const opened = openQueue();
        await opened.waitUntilReady();
        status.up();
        return opened;
    }

    function openQueue() {
        const opened = new bull.Queue<Envelope>(QUEUE_NAME, { connection: { pool }, skipMetasUpdate: true });
        opened.on('error', status.down);
        return opened;
    }
}

/** Opens the worker's side in PostgreSQL: a pool, one connection that listens for jobs, and one for cancellations. */
export function openPostgresWorker({ databaseUrl, secrets, log }: Omit<PostgresQueueOptions, 'now'>): WorkerBackend {
    const pool = openPool({
        url: databaseUrl,
        part: 'postgres worker',
        log,
        max: 9,
        timeoutMs: WORKER_MS.answer,
        settings: `${SETTINGS} -c statement_timeout=${WORKER_MS.statement}`,
        first: FIRST,
    });
    const status = watchConnection(log, 'postgres worker jobs');
    const closers: (() => Promise<void>)[] = [];
    let backend: BatchedPostgresBackend | undefined;
    return {
        async reply(replyTo, { id, body }) {
            await backend?.taken.finish({ id, channel: replyTo, body: await sealReply(secrets, body) });
        },
        onCancel(listener) {
            const connection = openListener({
                databaseUrl,
                channel: CANCEL_CHANNEL,
                part: 'postgres cancellations',
                log,
                onNotification: listener,
                onListening: async () => undefined,
            });
            closers.push(() => connection.close());
        },
        openWorker(process, { concurrency }) {
            const worker = new bull.Worker<Envelope, void>(QUEUE_NAME, (job) => process(job.id ?? '', job.data), {
                ...WORKER_OPTIONS,
                connection: { pool, concurrency },
                concurrency,
            });
            const opened = worker.getBackend();
            const connection = openListener({
                databaseUrl,
                channel: JOBS_CHANNEL,
                part: 'postgres worker waiting',
                log,
                onNotification: () => opened.signal(),
                onListening: async () => opened.signal(),
            });
            closers.push(() => connection.close());
            backend = opened;
            return wrapWorker(worker, status.down);
        },
        async close() {
            for (const close of closers) await close();
            await pool.end();
        },
    };
}
