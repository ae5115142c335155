import type { FetchFailure, FetchJob, FetchOutcome } from './domain/fetch.ts';
import { type Outlook, openWaitingLine } from './domain/waiting-line.ts';
import { type OutageLog, watchOutage } from './outage.ts';
import type { Envelope, ProducerBackend, QueuedJob, ReplyChannel, WorkerBackend } from './queue/backend.ts';
import { type Consumer, openConsumer } from './queue/consumer.ts';
import { openPostgresProducer, openPostgresWorker } from './queue/postgres-backend.ts';
import { openRedisProducer, openRedisWorker } from './queue/redis-backend.ts';
import { readReport } from './queue/report.ts';
import { createWaiters } from './queue/waiters.ts';
import type { Secrets } from './secrets.ts';

export type { QueuedJob } from './queue/backend.ts';
export type { Consumer } from './queue/consumer.ts';
export { migrateQueue } from './queue/postgres-backend.ts';

/** A worker may report until so long after the deadline (CONTRACT section 4). */
const REPORT_GRACE_MS = 200;

export interface QueueOptions {
    databaseUrl: string;
    /** Absent: the queue lives in PostgreSQL. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    /** Encrypts replies where they are stored in PostgreSQL. */
    secrets: Secrets;
    log: OutageLog;
    /** An `api` listens for replies from the start, a `worker` from its first `run`. */
    role: 'api' | 'worker';
}

export interface RunOptions {
    /** Aborted when the caller is gone: a waiting job is taken out, a running one is told to stop. */
    signal?: AbortSignal;
    /** 0 or absent: plain jobs, first come first served. Greater ones wait for all plain ones, and among themselves by number. */
    priority?: number;
    /** Goes along with the job; the worker's part of the trace hangs on it. */
    trace?: string | undefined;
}

export interface ConsumeOptions {
    concurrency: number;
    /** Told of every job whose worker died, by the worker that noticed, before the caller is told. */
    onDeath?: (job: FetchJob) => Promise<void>;
}

export interface Queue {
    /**
     * Queues the job and resolves with its outcome. Never rejects: a queue that is down is SERVICE_UNAVAILABLE at once, a worker that
     * died is `lost: 'worker'` as soon as another one noticed, and silence is `lost: 'deadline'` at the deadline + 200 ms.
     */
    run(job: FetchJob, options?: RunOptions): Promise<FetchOutcome>;
    /** Takes jobs and answers them with what `handler` resolves to; a handler that throws is answered INTERNAL. */
    consume(
        handler: (job: FetchJob, signal: AbortSignal, trace: string | undefined) => Promise<FetchOutcome>,
        options: ConsumeOptions,
    ): Consumer;
    counts(): Promise<{ waiting: number; active: number; delayed: number }>;
    /** Jobs of each state, without what was asked for: those that came first, at most so many of each. */
    peek(most: number): Promise<QueuedJob[]>;
    /** Age of the plain job that waits longest, in seconds; 0 when none waits. */
    oldestWaitSeconds(): Promise<number>;
    /** Rejects when the store cannot be reached. */
    ping(): Promise<void>;
    /** How many callers wait in this process. */
    waiting(): number;
    /** What awaits a plain job that would be added now behind those of this process, and behind so many calls that will add theirs. */
    outlook(others: number): Outlook;
    close(): Promise<void>;
}

/** Opens the queue over Redis or PostgreSQL. Nothing has to be up yet: everything reconnects by itself. */
export function openQueue(options: QueueOptions): Queue {
    const { log } = options;
    const waiters = createWaiters();
    const producer = openProducer(options);
    const adding = watchOutage(log, 'queueing of jobs');
    const consumers: Consumer[] = [];
    const line = openWaitingLine();
    const places = new Map<string, { number: number; since: number }>();
    /** Ids whose job may be in the queue although nobody waits: adding or cancelling them failed. */
    const unwanted = new Set<string>();
    let replies: ReplyChannel | undefined;
    let isClosed = false;
    if (options.role === 'api') openReplies();

    return {
        async run(job, { signal, priority, trace } = {}) {
            if (isClosed) return unavailable();
            const remainingMs = job.deadlineAt - Date.now();
            if (remainingMs <= 0 || signal?.aborted) return { ok: false, code: 'DEADLINE_EXCEEDED' };
            const id = jobId(job);
            const envelope: Envelope = { job, replyTo: openReplies().name, ...(trace === undefined ? {} : { trace }) };
            const abandon = () => {
                if (waiters.settle(id, { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'deadline' })) cancel(id);
            };
            signal?.addEventListener('abort', abandon, { once: true });
            if (!priority) places.set(id, { number: line.join(Date.now()), since: job.admittedAt });
            const outcome = waiters.open(
                id,
                remainingMs + REPORT_GRACE_MS,
                () => {
                    cancel(id);
                    return { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'deadline' };
                },
                () => {
                    places.delete(id);
                    signal?.removeEventListener('abort', abandon);
                },
            );
            producer.add(id, envelope, priority).then(
                () => {
                    adding.up();
                    waiters.markQueued(id);
                },
                (error: unknown) => {
                    adding.down(error);
                    if (waiters.settle(id, unavailable())) cancel(id);
                },
            );
            return outcome;
        },
        consume(handler, { concurrency, onDeath }) {
            const consumer = openConsumer({ backend: openWorker(options), handler, concurrency, onDeath, log });
            consumers.push(consumer);
            return consumer;
        },
        counts: () => producer.counts(),
        peek: (most) => producer.peek(most),
        async oldestWaitSeconds() {
            const since = await producer.oldestWaitingSince();
            return since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1000);
        },
        ping: () => producer.ping(),
        waiting: () => waiters.size(),
        outlook: (others) => line.outlook(Date.now(), { others, open: places.size }),
        async close() {
            if (isClosed) return;
            isClosed = true;
            for (const id of waiters.ids()) waiters.settle(id, unavailable());
            for (const consumer of consumers) await consumer.close();
            await replies?.close();
            await producer.close();
        },
    };

    function openReplies(): ReplyChannel {
        replies ??= producer.openReplies({
            onReply({ id, body }) {
                const { ranMs, ...outcome } = readReport(body);
                const place = places.get(id);
                if (place !== undefined && ranMs !== undefined) line.taken(place.number, place.since, { toldAt: Date.now(), forMs: ranMs });
                waiters.settle(id, outcome);
            },
            async onDoubt() {
                for (const id of unwanted) cancel(id);
                const open = waiters.queuedIds();
                const surviving = open.length === 0 ? new Set<string>() : await producer.surviving(open);
                return () => {
                    for (const id of open) if (!surviving.has(id)) waiters.settle(id, workerLost());
                };
            },
        });
        return replies;
    }

    /** Best effort: where it fails now, it is tried again after the next reconnect. A worker drops a job past its deadline anyway. */
    function cancel(id: string): void {
        unwanted.delete(id);
        producer.cancel(id).catch(() => {
            if (!isClosed && unwanted.size < 10_000) unwanted.add(id);
        });
    }
}

/** A second run of the same call is another job, so that a late answer of the first is nobody's. */
function jobId(job: FetchJob): string {
    return job.run > 1 ? `${job.operation}-${job.run}` : job.operation;
}

function unavailable(): FetchFailure {
    return { ok: false, code: 'SERVICE_UNAVAILABLE', retryAfter: 1 };
}

function workerLost(): FetchFailure {
    return { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'worker' };
}

function openProducer({ databaseUrl, redisUrl, keyPrefix, secrets, log }: QueueOptions): ProducerBackend {
    return redisUrl === undefined ? openPostgresProducer({ databaseUrl, secrets, log }) : openRedisProducer({ redisUrl, keyPrefix, log });
}

function openWorker({ databaseUrl, redisUrl, keyPrefix, secrets, log }: QueueOptions): WorkerBackend {
    return redisUrl === undefined ? openPostgresWorker({ databaseUrl, secrets, log }) : openRedisWorker({ redisUrl, keyPrefix, log });
}
