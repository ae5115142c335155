import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchFailure, FetchJob, FetchOutcome } from '../../domain/fetch/fetch-job.ts';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import { lookUntil } from '../../platform/look-until.ts';
import { type Envelope, REPORT_GRACE_MS, type WorkerBackend } from './backend.ts';
import { RETRY_MS } from './bull-options.ts';
import { writeReport } from './report.ts';
import type { StoreClock } from './store-clock.ts';

/** How long a stopping worker in which no job runs waits for a store that does not answer. */
const CUT_MS = 1000;
const LOOKS = { everyMs: 20, maxMs: Number.POSITIVE_INFINITY };

/** Number of cancellations that are remembered for jobs that this worker has taken but not started. */
const CANCELLED_KEPT = 1000;

/** Processes a job. @param afterwards registers a function to call after the outcome is delivered or abandoned */
export type Handler = (
    job: FetchJob,
    signal: AbortSignal,
    trace: string | undefined,
    afterwards: (act: () => void) => void,
) => Promise<FetchOutcome>;

export type Consumer = ReturnType<typeof openConsumer>;

/** Consumes the queue: takes jobs, runs the handler, replies, and then removes the job. */
export function openConsumer(options: {
    backend: WorkerBackend;
    clock: Pick<StoreClock, 'jobFromStore' | 'outcomeToStore'>;
    handler: Handler;
    concurrency: number;
    /** Runs for each job whose worker died, before its caller receives the answer. */
    onDeath?: ((job: FetchJob) => Promise<void>) | undefined;
    log: ConnectionLog;
}) {
    const { backend, clock, handler, concurrency, onDeath, log } = options;
    const running = new Map<string, AbortController>();
    const cancelled = new Set<string>();
    const worker = backend.openWorker(work, { concurrency });
    backend.onCancel((id) => {
        remember(cancelled, id);
        running.get(id)?.abort(new Error('the caller is gone'));
    });
    worker.onLockLost((ids) => {
        for (const id of ids) running.get(id)?.abort(new Error('the queue failed this job'));
    });
    // The worker that detects the death of another worker answers the callers of that worker's jobs.
    worker.onStalled((id, envelope) => {
        log.warn({ part: 'queue', operation: envelope.job.operation }, 'a worker died or was cut off in the middle of a job');
        const answer = () => reply(id, envelope, { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'worker' });
        void (onDeath === undefined ? answer() : onDeath(clock.jobFromStore(envelope.job)).then(answer, answer));
    });
    worker.run();
    let isCut = false;
    let draining: Promise<void> | undefined;
    const drain = () => {
        draining ??= pause();
        return draining;
    };
    let closing: Promise<void> | undefined;
    return {
        /** Stops taking jobs. Resolves when all running jobs have replied. */
        drain,
        /** Drains, then closes every connection. */
        close(): Promise<void> {
            // The opener and the queue both call this.
            closing ??= drain().then(async () => {
                await worker.close(isCut);
                await backend.close();
            });
            return closing;
        },
        inFlight: () => running.size,
        /** When the loop last made progress, in milliseconds since the epoch, also after a jump of the clock. In a healthy worker at most 3 s ago. */
        lastProgressAt: () => Date.now() - (performance.now() - worker.lastProgressAt()),
    };

    /** BullMQ waits for its last call of the store, without end if the store is away. Jobs that run are always waited for. */
    async function pause(): Promise<void> {
        let isPaused = false;
        const paused = worker.pause().finally(() => {
            isPaused = true;
        });
        let busyAt = performance.now();
        const isOver = async () => {
            if (running.size > 0) busyAt = performance.now();
            return isPaused || performance.now() - busyAt >= CUT_MS;
        };
        await Promise.race([paused, lookUntil(LOOKS, isOver, Boolean)]);
        isCut = !isPaused;
    }

    /** Replies before the job is removed from the queue. In the opposite order, a crash in between would lose the answer. */
    async function work(id: string, envelope: Envelope): Promise<void> {
        if (cancelled.delete(id)) return;
        const job = clock.jobFromStore(envelope.job);
        if (job.deadlineAt <= Date.now()) return reply(id, envelope, { ok: false, code: 'DEADLINE_EXCEEDED', ranMs: 0 });
        const abort = new AbortController();
        running.set(id, abort);
        const began = performance.now();
        const acts: (() => void)[] = [];
        try {
            const outcome = await handler(job, abort.signal, envelope.trace, (act) => acts.push(act)).catch((error: unknown) =>
                internal(error, job),
            );
            if (!abort.signal.aborted) await reply(id, envelope, { ...outcome, ranMs: Math.round(performance.now() - began) });
        } finally {
            for (const act of acts) act();
            running.delete(id);
            cancelled.delete(id);
        }
    }

    /** Retries until the caller's deadline. */
    async function reply(id: string, { job, replyTo }: Envelope, report: FetchOutcome): Promise<void> {
        const body = writeReport(clock.outcomeToStore(report));
        for (;;) {
            try {
                return await backend.reply(replyTo, { id, body });
            } catch (error) {
                if (Date.now() > clock.jobFromStore(job).deadlineAt + REPORT_GRACE_MS) {
                    log.error({ part: 'queue', operation: job.operation, err: error }, 'an outcome could not be delivered in time');
                    return;
                }
                await sleep(RETRY_MS);
            }
        }
    }

    function internal(error: unknown, job: FetchJob): FetchFailure {
        log.error({ part: 'worker', operation: job.operation, err: error }, 'a job failed by a bug');
        return { ok: false, code: 'INTERNAL' };
    }
}

function remember(ids: Set<string>, id: string): void {
    ids.add(id);
    const [oldest] = ids;
    if (ids.size > CANCELLED_KEPT && oldest !== undefined) ids.delete(oldest);
}
