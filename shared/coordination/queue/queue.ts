import type { FetchFailure, FetchJob, FetchOutcome } from '../../domain/fetch/fetch-job.ts';
import { watchConnection } from '../../platform/connection-log.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { StoreOptions } from '../store-options.ts';
import { type Envelope, type ProducerBackend, type QueuedJob, REPORT_GRACE_MS, type ReplyChannel, type WorkerBackend } from './backend.ts';
import { type Consumer, type Handler, openConsumer } from './consumer.ts';
import { openPostgresProducer, openPostgresWorker } from './postgres-backend.ts';
import { openRedisProducer, openRedisWorker } from './redis-backend.ts';
import { readReport } from './report.ts';
import { openStoreClock, type StoreClock } from './store-clock.ts';
import { createWaiters } from './waiters.ts';

export type { QueuedJob } from './backend.ts';
export type { Consumer, Handler } from './consumer.ts';
export { migrateQueue } from './postgres-backend.ts';

interface QueueOptions extends StoreOptions {
    /** Encrypts replies that are stored in PostgreSQL. */
    secrets: Secrets;
    /** An `api` process listens for replies from the start, a `worker` process from its first `run`. */
    role: 'api' | 'worker';
}

interface RunOptions {
    /** Aborts when the caller disconnects. A waiting job is then removed, a running job is cancelled. */
    signal?: AbortSignal;
    /** 0 or absent: a plain job, first in, first out. Other jobs run after all plain jobs, in ascending order of this number. */
    priority?: number | undefined;
    /** Trace context of the parent span of the worker's span. */
    trace?: string | undefined;
}

interface ConsumeOptions {
    concurrency: number;
    /** Runs for each job whose worker died, in the worker that detected it, before the caller receives the answer. */
    onDeath?: (job: FetchJob) => Promise<void>;
}

export interface Queue {
    /**
     * Queues the job and resolves with its outcome. Never rejects. An unreachable queue gives SERVICE_UNAVAILABLE at once. A dead worker
     * gives `lost: 'worker'` when another worker detects it. A missing reply gives `lost: 'deadline'` 200 ms after the deadline.
     */
    run(job: FetchJob, options?: RunOptions): Promise<FetchOutcome>;
    /** Takes jobs and replies with the outcome of the handler. A handler that throws gives INTERNAL. */
    consume(handler: Handler, options: ConsumeOptions): Consumer;
    counts(): Promise<{ waiting: number; active: number; delayed: number }>;
    /** The oldest jobs without their params, at most `limit` for each state. */
    peek(limit: number): Promise<QueuedJob[]>;
    /** Age of the oldest waiting plain job, in seconds; 0 when no plain job waits. */
    oldestWaitSeconds(): Promise<number>;
    /** Compares the clocks. Rejects when the store is unreachable. */
    ping(): Promise<void>;
    /** How far the clock of this machine is ahead of that of the store, in milliseconds. */
    clockAheadMs(): number;
    /** Number of callers of this process that wait for an outcome. */
    waiting(): number;
    close(): Promise<void>;
}

/** Opens the queue over Redis or PostgreSQL. The store may be unreachable: every connection reconnects automatically. */
export function openQueue(options: QueueOptions): Queue {
    const { log } = options;
    const waiters = createWaiters();
    const now = () => clock.now();
    const producer = openProducer(options, now);
    const clock: StoreClock = openStoreClock(() => producer.time(), log);
    const adding = watchConnection(log, 'queueing of jobs');
    const { cancel, cancelAgain } = createCanceller(producer);
    const consumers: Consumer[] = [];
    let replies: ReplyChannel | undefined;
    let isClosed = false;
    if (options.role === 'api') openReplies();

    return {
        async run(job, { signal, priority, trace } = {}) {
            if (isClosed) return unavailable();
            const remainingMs = job.deadlineAt - Date.now();
            if (remainingMs <= 0 || signal?.aborted) return { ok: false, code: 'DEADLINE_EXCEEDED' };
            const id = job.run > 1 ? `${job.operation}-${job.run}` : job.operation;
            const envelope: Envelope = { job: clock.jobToStore(job), replyTo: openReplies().name, trace };
            const abandon = () => settleAndCancel(id, { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'deadline' });
            const timer = setTimeout(abandon, remainingMs + REPORT_GRACE_MS);
            signal?.addEventListener('abort', abandon);
            const outcome = waiters.open(id);
            void add(id, envelope, priority);
            try {
                return await outcome;
            } finally {
                clearTimeout(timer);
                signal?.removeEventListener('abort', abandon);
            }
        },
        consume(handler, { concurrency, onDeath }) {
            const consumer = openConsumer({ backend: openWorker(options), clock, handler, concurrency, onDeath, log });
            consumers.push(consumer);
            return consumer;
        },
        counts: () => producer.counts(),
        async peek(limit) {
            const jobs = await producer.peek(limit);
            return jobs.map((job) => ({ ...job, since: job.since + clock.aheadMs() }));
        },
        async oldestWaitSeconds() {
            const since = await producer.oldestWaitingSince();
            return since === undefined ? 0 : Math.max(0, (now() - since) / 1000);
        },
        async ping() {
            await clock.compare();
        },
        clockAheadMs: () => clock.aheadMs(),
        waiting: () => waiters.size(),
        async close() {
            if (isClosed) return;
            isClosed = true;
            clock.close();
            for (const id of waiters.ids()) waiters.settle(id, unavailable());
            for (const consumer of consumers) await consumer.close();
            await replies?.close();
            await producer.close();
        },
    };

    function openReplies(): ReplyChannel {
        replies ??= producer.openReplies({
            onReply: ({ id, body }) => void waiters.settle(id, clock.outcomeFromStore(readReport(body))),
            async onDoubt() {
                cancelAgain();
                const open = waiters.queuedIds();
                const surviving = open.length === 0 ? new Set<string>() : await producer.surviving(open);
                return () => {
                    const lost = open.filter((id) => !surviving.has(id));
                    for (const id of lost) waiters.settle(id, { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'worker' });
                };
            },
        });
        return replies;
    }

    async function add(id: string, envelope: Envelope, priority: number | undefined): Promise<void> {
        try {
            await producer.add(id, envelope, priority);
            adding.up();
            waiters.markQueued(id);
        } catch (error) {
            adding.down(error);
            settleAndCancel(id, unavailable());
        }
    }

    function settleAndCancel(id: string, outcome: FetchFailure): void {
        if (waiters.settle(id, outcome)) cancel(id);
    }
}

/** Maximum number of failed cancels that are tried again. A worker drops a job whose deadline has passed. */
const MAX_FAILED = 10_000;

/** Cancels jobs that no caller waits for. Best effort: failed cancels are tried again after the next reconnect. */
function createCanceller(producer: ProducerBackend): { cancel(id: string): void; cancelAgain(): void } {
    const failed = new Set<string>();
    const cancel = (id: string) => {
        failed.delete(id);
        producer.cancel(id).catch(() => {
            if (failed.size < MAX_FAILED) failed.add(id);
        });
    };
    return {
        cancel,
        cancelAgain: () => {
            for (const id of failed) cancel(id);
        },
    };
}

function unavailable(): FetchFailure {
    return { ok: false, code: 'SERVICE_UNAVAILABLE', retryAfter: 1 };
}

function openProducer({ databaseUrl, redisUrl, keyPrefix, secrets, log }: QueueOptions, now: () => number): ProducerBackend {
    if (redisUrl === undefined) return openPostgresProducer({ databaseUrl, secrets, log, now });
    return openRedisProducer({ redisUrl, keyPrefix, log, now });
}

function openWorker({ databaseUrl, redisUrl, keyPrefix, secrets, log }: QueueOptions): WorkerBackend {
    return redisUrl === undefined ? openPostgresWorker({ databaseUrl, secrets, log }) : openRedisWorker({ redisUrl, keyPrefix, log });
}
