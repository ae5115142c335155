import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchFailure, FetchJob, FetchOutcome } from '../domain/fetch.ts';
import type { OutageLog } from '../outage.ts';
import type { Envelope, WorkerBackend } from './backend.ts';
import { type Report, writeReport } from './report.ts';

/** A worker may report until so long after the deadline (CONTRACT section 4). */
const REPORT_GRACE_MS = 200;
const RETRY_MS = 100;
/** So many cancellations are remembered for jobs that are just being taken from the queue. */
const CANCELLED_KEPT = 1000;

export interface Consumer {
    /** Stops taking jobs and resolves when the running ones are answered. */
    drain(): Promise<void>;
    /** Drains, then closes every connection. */
    close(): Promise<void>;
    /** Jobs that the handler works on now. */
    inFlight(): number;
    /** When the loop was last seen to go round, milliseconds since the epoch; at most 3 s ago in a healthy worker. */
    lastProgressAt(): number;
}

/** The working end of the queue: takes jobs, runs the handler, replies, and only then lets the job go. */
export function openConsumer(options: {
    backend: WorkerBackend;
    handler: (job: FetchJob, signal: AbortSignal, trace: string | undefined) => Promise<FetchOutcome>;
    concurrency: number;
    /** Told of every job whose worker died, before its caller is. */
    onDeath?: ((job: FetchJob) => Promise<void>) | undefined;
    log: OutageLog;
}): Consumer {
    const { backend, handler, concurrency, onDeath, log } = options;
    const running = new Map<string, AbortController>();
    const cancelled = new Set<string>();
    const worker = backend.openWorker(work, { concurrency });
    backend.onCancel((id) => {
        remember(cancelled, id);
        running.get(id)?.abort(new Error('the caller is gone'));
    });
    worker.onLockLost((ids) => {
        for (const id of ids) running.get(id)?.abort(new Error('the queue gave this job up'));
    });
    // Whoever takes over the job of a dead worker tells the caller so.
    worker.onStalled((id, envelope) => {
        log.warn({ part: 'queue', operation: envelope.job.operation }, 'a worker died or was cut off in the middle of a job');
        const answer = () => reply(id, envelope, { ok: false, code: 'DEADLINE_EXCEEDED', lost: 'worker' });
        void (onDeath === undefined ? answer() : onDeath(envelope.job).then(answer, answer));
    });
    worker.run();
    let draining: Promise<void> | undefined;
    const drain = () => {
        draining ??= worker.pause();
        return draining;
    };
    let closing: Promise<void> | undefined;
    return {
        drain,
        close() {
            // Whoever opened it closes it, and so does the queue that it belongs to.
            closing ??= drain().then(async () => {
                await worker.close();
                await backend.close();
            });
            return closing;
        },
        inFlight: () => running.size,
        lastProgressAt: () => performance.timeOrigin + worker.lastProgressAt(),
    };

    /** Replies before the job leaves the queue: the other way round, a kill in between would lose the answer of a job that is gone. */
    async function work(id: string, envelope: Envelope): Promise<void> {
        if (cancelled.delete(id)) return;
        if (envelope.job.deadlineAt <= Date.now()) return reply(id, envelope, { ok: false, code: 'DEADLINE_EXCEEDED', ranMs: 0 });
        const abort = new AbortController();
        running.set(id, abort);
        const began = performance.now();
        try {
            const { job, trace } = envelope;
            const outcome = await handler(job, abort.signal, trace).catch((error: unknown) => internal(error, job));
            if (!abort.signal.aborted) await reply(id, envelope, { ...outcome, ranMs: Math.round(performance.now() - began) });
        } finally {
            running.delete(id);
            cancelled.delete(id);
        }
    }

    /** Tries until somebody may still be waiting. */
    async function reply(id: string, { job, replyTo }: Envelope, report: Report): Promise<void> {
        const body = writeReport(report);
        for (;;) {
            try {
                return await backend.reply(replyTo, { id, body });
            } catch (error) {
                if (Date.now() > job.deadlineAt + REPORT_GRACE_MS) {
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
    if (ids.size <= CANCELLED_KEPT) return;
    for (const oldest of ids) {
        ids.delete(oldest);
        return;
    }
}
